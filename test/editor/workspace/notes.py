"""Nothing here has to do with training."""

words = ["a", "b"]
