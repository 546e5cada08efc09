"""The figures of segments as rows, for the pipeline. Only this package of recordings needs pyarrow and numpy."""
