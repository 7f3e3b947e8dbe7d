"""Heavy work on many machines: Dask as one more `concurrent.futures.Executor`, known in this folder alone (P-16)."""
