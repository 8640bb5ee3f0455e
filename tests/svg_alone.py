"""For servers of programs: of a figure the SVG alone is drawn. PNG and PDF, which take half of the
time, are empty files; who reads them starts the program itself.
"""

from matplotlib.figure import Figure

save = Figure.savefig


def savefig(figure: Figure, file, format: str, **given) -> None:
    if format == "svg":
        save(figure, file, format=format, **given)
    else:
        open(file, "wb").close()


Figure.savefig = savefig
