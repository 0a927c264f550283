"""The page of a comparison."""
def comparison_page(found):
    return ""
