"""Teams' programs without a database: their archives, the items that they get, and what runs them (G-1, G-3)."""
