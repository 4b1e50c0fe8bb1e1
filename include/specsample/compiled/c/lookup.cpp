// Drafts of the C interface out of texts; a part of c.cpp.
struct specsample_lookup {
    SuffixLookupDrafter drafter;
    DraftTree<PointMass> tree{};
};

specsample_lookup* specsample_lookup_create(specsample_workspace* workspace, int64_t nodes, int64_t width,
                                            int64_t min_match) {
    return made_in<specsample_lookup>(workspace, [&] {
        const SuffixLookupOptions options{.nodes = nodes, .width = width, .min_match = min_match};
        return new specsample_lookup{SuffixLookupDrafter(options)};
    });
}

void specsample_lookup_destroy(specsample_lookup* lookup) { delete lookup; }

int specsample_lookup_learn(specsample_workspace* workspace, specsample_lookup* lookup, const int32_t* text,
                            int64_t count) {
    return guarded(workspace, [&](specsample_workspace&) {
        constexpr auto where = "specsample_lookup_learn";
        at(lookup, where, "lookup").drafter.learn(list(text, count, where, "text"));
    });
}

int specsample_lookup_draft(specsample_workspace* workspace, specsample_lookup* lookup, const int32_t* text,
                            int64_t count, int64_t depth, int64_t vocab, int32_t* tokens, int64_t* parents,
                            int64_t* drafted) {
    return guarded(workspace, [&](specsample_workspace&) {
        constexpr auto where = "specsample_lookup_draft";
        auto& [drafter, tree] = at(lookup, where, "lookup");
        if (depth < 0) refuse(where, "depth", std::to_string(depth), "at least 0");
        if (vocab < 0) refuse(where, "vocab", std::to_string(vocab), "at least 0");
        std::int32_t& first = at(tokens, where, "tokens");
        std::int64_t& first_parent = at(parents, where, "parents");
        std::int64_t& size = at(drafted, where, "drafted");
        tree.open(depth, {}, vocab);
        drafter.propose(list(text, count, where, "text"), RoundRng(0, 0, 0), tree);
        for (Index node = 0; node < tree.size(); ++node) {
            (&first)[node] = tree.token(node);
            (&first_parent)[node] = tree.parent(node);
        }
        size = tree.size();
    });
}
