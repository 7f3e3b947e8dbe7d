"""Files of packs that teams download: added by organisers, encrypted early if the calendar says so (M89, P-26)."""
