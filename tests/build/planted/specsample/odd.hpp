// Offence against the floors: a part that is on none. And against the words of the field:
// Coins of a round
// a law of a token
/// The same for a list, of which the last is theirs.
