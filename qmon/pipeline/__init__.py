"""The pipeline: months of recordings rolled up by Spark into what is normal, what went wrong, and what comes next."""
