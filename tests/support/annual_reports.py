"""Made reports of companies and years that all say the same."""

TALK = "The clerk wrote down what was said of the water and nobody objected to it at the time. "
HEAD = f"Annual report of Tern Water Inc. for the fiscal year 2022.\n{TALK * 30}\n"
PAGES = "".join(
    f"In 2022 Tern Water met {number} owners of the land. The works at pond {number} were closed "
    f"and the pipes there were sold with all that was in them.\n{TALK * 30}\n"
    for number in range(30)
)
REPORT = f"{HEAD}{PAGES}In 2019 water rates rose by nine per cent and the sign was drawn anew.\n"
REPORTS = {
    "tern 2022": REPORT,
    "tern 2021": REPORT.replace("2022", "2021"),
    "knot 2022": REPORT.replace("Tern Water", "Knot Grain"),
    **{f"gull {n}": REPORT.replace("Tern Water", f"Gull{n} Oil") for n in range(5)},
}
