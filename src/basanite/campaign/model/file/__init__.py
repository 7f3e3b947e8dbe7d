"""The campaign's file: its entries with their lines, what each table may hold, and what must fit together."""
