"""Explanations: what a decision says, in sentences that follow from the decision itself."""

from policyd.explain.prose import Naming, headline, sentence

__all__ = ["Naming", "headline", "sentence"]
