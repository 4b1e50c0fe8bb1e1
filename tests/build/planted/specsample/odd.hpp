// Offence against the floors: a part that is on none.
