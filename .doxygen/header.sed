# A header opens with a comment about itself: its first paragraph is what the reference says of the file, and the rest,
# mostly tables, is shown as it stands. No line is added, so that warnings name the right one.
1,/^#pragma once/ {
    1s,^// ,/** ,
    s,^// \{0\,1\},,
    # The first empty line opens the block; the hold space remembers that it is open.
    /^$/ {
        x
        /^$/ {
            s/^/@endverbatim /
            x
            s,$,@verbatim,
            b
        }
        x
    }
    /^#pragma once/ {
        x
        s,.*,&@file */,
    }
}

# In the line of a tag, a type such as std::vector<double> is no HTML.
\,^ */// @, s,<,\\<,g

# The inline namespace of a configuration (core/config.hpp) is no part of the names that users write.
s/^namespace specsample { inline namespace SPECSAMPLE_ABI {/namespace specsample {/
s,^}}\(}*\)  // namespace,}\1  // namespace,
