"""spaCy without torch. spaCy imports torch wherever it is installed, which takes three of the four
CPU seconds of its start. Rules need no torch. A statistical pipeline (--spacy-model) may need it.
"""

import sys

if "torch" in sys.modules or any(option.startswith("--spacy-model") for option in sys.argv):
    import spacy as spacy
else:
    sys.modules["torch"] = None  # type: ignore[assignment]  # as if torch were not installed
    try:
        import spacy as spacy
    finally:
        del sys.modules["torch"]
