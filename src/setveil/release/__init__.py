"""Make, write, open, check and measure releases."""

CARD_NAME = "card.json"
"""The name of the card in a release folder; here, so that reading a data file does not import the model of the card."""
