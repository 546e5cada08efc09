"""The commands of ``qmon design``, and the text of the bench's report."""
