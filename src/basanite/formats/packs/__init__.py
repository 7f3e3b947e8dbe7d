"""Names of archives, released data sets, build packs, domains and usage rules."""
