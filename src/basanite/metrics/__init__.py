"""Metrics as plain functions of arrays: what each unit contributes, and the value of any sum of that."""
