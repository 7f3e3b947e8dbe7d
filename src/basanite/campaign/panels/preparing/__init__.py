"""What organisers do before a panel begins: scheme, items, pictures, plan, crowd batches."""
