"""Several data sets or models side by side, with and without transformations, ranked against a proxy."""
