"""Claims beside the sentence that decides them: each true one with a false one of the same kind."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from milepost.checking.claims import Said, judge, why_not
from milepost.checking.claims.quantities import quantities
from milepost.types import Table
from support.claims import passage

PAIRS = [
    # sentence, a claim that holds, one that does not, and in which point
    ("The fee was raised to 5 dollars in 1998.", "The fee was raised in 1998.",
     "The fee was raised in 1989.", "date"),
    ("The fee was raised to 5 dollars in 1998.", "The fee was raised to $5.",
     "The fee was raised to 7 dollars in 1998.", "number"),
    ("The bridge is 1,234 metres long.", "The bridge is 1234 m long.",
     "The bridge is 1,324 metres long.", "number"),
    ("The bridge is 12 km long.", "The bridge is 12 kilometres long.",
     "The bridge is 12 miles long.", "unit"),
    ("Revenue rose to $1.2bn.", "Revenue rose to 1.2 billion dollars.",
     "Revenue rose to $1.4bn.", "number"),
    ("The club has 10,000 members.", "The club has 10 000 members.",
     "The club has 12 000 members.", "number"),
    ("Twelve percent of the farms closed.", "12 % of the farms closed.",
     "20 % of the farms closed.", "number"),
    ("The model relied on data from sensors.", "The model relied on sensors' data.",
     "The model did not rely on data from sensors.", "negation"),
    ("It was built in 1965.", "It was built before 1967.", "It was built before 1964.", "date"),
    ("The oven is at 425 degrees F (218 C).", "The oven is at 218 degrees C.",
     "The oven is at 425 degrees C.", "unit"),
    ("The committee did not approve the budget.", "The budget was not approved by the committee.",
     "The committee approved the budget.", "negation"),
    ("Bees never sleep in winter.", "In winter, bees never sleep.",
     "Bees sleep in winter.", "negation"),
    ("No patient died during the trial.", "During the trial no patient died.",
     "Patients died during the trial.", "negation"),
    ("The warranty covers parts but does not cover labour.", "Parts are covered by the warranty.",
     "The warranty covers parts and labour.", "negation"),
    ("The witness failed to appear in court.", "In court the witness failed to appear.",
     "The witness appeared in court.", "negation"),
    ("All members voted for the treaty.", "The members all voted for the treaty.",
     "Few members voted for the treaty.", "quantity"),
    ("Most hives survived the winter.", "Most of the hives survived the winter.",
     "Few hives survived the winter.", "quantity"),
    ("Some hives survived the winter.", "Some of the hives survived the winter.",
     "All hives survived the winter.", "quantity"),
    ("Prices increased in the spring.", "In the spring prices increased.",
     "Prices decreased in the spring.", "opposite"),
    ("The company accepted the offer.", "The offer was accepted by the company.",
     "The company rejected the offer.", "opposite"),
    ("It is the largest hall of the town.", "It is the town's largest hall.",
     "It is the smallest hall of the town.", "opposite"),
    ("The drug promotes growth of the cells.", "The drug promotes the growth of cells.",
     "The drug inhibits growth of the cells.", "opposite"),
    ("The treaty was signed in Lisbon by both parties.", "Both signed the treaty in Lisbon.",
     "The treaty was signed in Madrid by both parties.", "name"),
    ("The painter was a Dutch citizen.", "The painter was Dutch.",
     "The painter was a Spanish citizen.", "name"),
    ("It opened on 3 May 1998.", "It opened in May 1998.",
     "It opened on 5 May 1998.", "date"),
    ("It opened on 3 May 1998.", "It opened on 1998-05-03.",
     "It opened in June 1998.", "date"),
    ("The trial lasted more than 12 weeks.", "The trial lasted more than 12 weeks in all.",
     "The trial lasted less than 6 weeks.", "number"),
    ("The results were reliable.", "Reliable results were found, they were reliable.",
     "The results were unreliable.", "negation"),
    ("The museum is closed on Mondays.", "On Mondays the museum is closed.",
     "The museum is not closed on Mondays.", "negation"),
    ("Sales fell by 8 percent.", "Sales fell by 8 %.",
     "Sales rose by 8 percent.", "opposite"),
    ("The seeds were kept in the dark.", "In the dark the seeds were kept.",
     "The seeds were kept in the light.", "opposite"),
    ("Its debt is 3 million less than before.", "Its debt is 3 million less than before now.",
     "Its debt is 3 million more than before.", "opposite"),
    ("Revenue was 5 million in 2018 and 6 million in 2019.", "Revenue was 6 million in 2019.",
     "Revenue was 5 million in 2019.", "number"),
    ("In 1980, the club had 30 members; in 1990, 45 members.", "The club had 30 members in 1980.",
     "The club had 45 members in 1980.", "number"),
    ("The museum is closed on Mondays.", "The museum isn't open on Mondays.",
     "The museum is open on Mondays.", "opposite"),
    ("The museum is not open on Mondays.", "The museum is closed on Mondays.",
     "The museum is not closed on Mondays.", "opposite"),
    ("Net sales were $14,189 million.", "Net sales were $14.2 billion.",
     "Net sales were $14.3 billion.", "number"),
    ("He won the race twice.", "He won the race two times.",
     "He won the race three times.", "number"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "holds", "fails", "kind"), PAIRS)
def test_what_differs_exactly_contradicts(sentence, holds, fails, kind):
    beside = "Nobody had expected it."
    found = judge(fails, [passage(sentence, beside)])
    assert found.verdict == "contradicted"
    assert kind in {each.kind for each in found.sentence.differences}
    assert found.sentence.text == sentence
    for each in found.sentence.differences:
        assert fails[each.given_start : each.given_end] == each.given
        assert sentence[each.start : each.end] == each.text
    assert judge(holds, [passage(sentence, beside)]).verdict != "contradicted"


def test_most_true_claims_are_supported():
    """Rules are careful: they may leave a true claim to the reader, but few of these."""
    verdicts = [judge(holds, [passage(sentence)]).verdict for sentence, holds, _, _ in PAIRS]
    assert verdicts.count("supported") >= 0.7 * len(PAIRS)


def test_the_same_in_other_words_is_supported():
    for sentence, holds, *_ in PAIRS[-5:]:
        assert judge(holds, [passage(sentence)]).verdict == "supported", holds
    unopened = passage("The museum did not open in 2019.")
    assert judge("The museum closed in 2019.", [unopened]).verdict == "related"


def test_other_languages_get_numbers_and_dates_alone():
    """Negations and opposites of a language that the rules do not know decide nothing."""
    text = passage("Die Gebühr für die Brücke wurde 1998 auf 5 Euro erhöht.")
    changed = judge("Die Gebühr für die Brücke wurde 1989 auf 5 Euro erhöht.", [text])
    assert changed.verdict == "contradicted"
    assert {each.kind for each in changed.sentence.differences} == {"date"}
    assert judge("Die Gebühr für die Brücke wurde erhöht.", [text]).verdict == "related"


def test_a_row_about_something_else_does_not_contradict():
    """Another name and another year are another thing: the next row of a table."""
    row = "name: Devils {} National Monument | action: Established | year: {} | president: W. Taft"
    claim = "Devils Tower National Monument was established by W. Taft in 1906."
    assert judge(claim, [passage(row.format("Postpile", 1911))]).verdict == "related"
    assert judge(claim, [passage(row.format("Tower", 1911))]).verdict == "contradicted"
    other = passage("name: Zion National Monument | action: Established | year: 1911 | W. Taft")
    assert judge(claim, [other]).verdict == "contradicted"
    in_table = replace(other, table=Table(None, (), ()))
    assert judge(claim, [in_table]).verdict == "related"


def test_a_claim_without_function_words_is_what_the_text_is():
    """Where the text is English: "A sign includes a ..." has no word that only English has."""
    english = passage(
        "A freestanding sign does not include a portable sign, which was never meant to be one.",
        "They are the signs that stand beside the road and that can be seen from it.",
    )
    assert (
        judge("A freestanding sign includes a portable sign.", [english]).verdict == "contradicted"
    )
    german = passage("Ein Schild ist nicht das, was auf dem Dach des Hauses oder an der Wand ist.")
    assert judge("Ein Schild steht auf dem Dach.", [german]).verdict == "related"


REPORT = ("Sales rose by 8 percent in 2019.", "Sales fell by 3 percent in 2018.")
DATES = ("The nomination of members ends on 17 February.", "Voting starts on 18 February.")
VAN = ("The van is made with four or six wheels and two doors.",)


@pytest.mark.parametrize(
    ("sentences", "claim", "verdict"),
    [
        # The number or date of a neighbour is no difference, and supports nothing.
        (REPORT, REPORT[0], "supported"),
        (REPORT, REPORT[1], "supported"),
        (DATES, "The nomination of members ends on 18 February.", "contradicted"),
        (DATES, DATES[0], "supported"),
        # Numbers that share a unit.
        (VAN, "The van is made with four wheels.", "supported"),
        (VAN, "The van is made with six wheels.", "supported"),
        (VAN, "The van is made with five wheels.", "contradicted"),
        # Numbers whose unit is left out.
        (
            ["In May 29 seeds grew, and in June only six did."],
            "Six seeds grew in June.",
            "supported",
        ),
        # Times of the day.
        (["The meeting ended at 9:36 p.m."], "The meeting ended at 9:36.", "supported"),
        (["The meeting ended at 9:36 p.m."], "The meeting ended at 21:36.", "supported"),
        (["The meeting ended at 9:36 p.m."], "The meeting ended at 9:36 a.m.", "contradicted"),
        (["The meeting ended at 9:36 p.m."], "The meeting ended at 10:36.", "contradicted"),
        (["The meeting ended at 10:36."], "The meeting ended at 9:36.", "contradicted"),
    ],
)
def test_numbers_beside_others(sentences: Sequence[str], claim: str, verdict: str) -> None:
    assert judge(claim, [passage(*sentences)]).verdict == verdict


@pytest.mark.parametrize(
    ("sentence", "same", "other", "kind"),
    [
        ("Die Gebühr für die Brücke stieg am 5. März 2024.", "5.3.2024", "6.3.2024", "date"),
        ("Le pont fut ouvert le 5 mars 2024 par le maire.", "05/03/2024", "5 avril 2024", "date"),
        ("Die Gebühr stieg um 12,5 Prozent.", "12,5 %", "13,5 %", "number"),
        ("Die Brücke kostete 1,2 Milliarden Euro.", "1,2 Mrd Euro", "1,2 Millionen Euro", "number"),
        ("Die Brücke kostete 1.234.567 Euro.", "1'234'567 Euro", "1.243.567 Euro", "number"),
    ],
)
def test_numbers_and_dates_of_other_languages(sentence: str, same: str, other: str, kind: str):
    (written,) = quantities(sentence)
    amount = sentence[written.start : written.end]
    agreeing, changed = (sentence.replace(amount, each) for each in (same, other))
    assert judge(agreeing, [passage(sentence)]).verdict != "contradicted"
    judged = judge(changed, [passage(sentence)])
    assert judged.verdict == "contradicted"
    assert kind in {each.kind for each in judged.sentence.differences}


@pytest.mark.parametrize(
    ("sentence", "claim", "verdict"),
    [
        ("Lille is smaller than Bordeaux.", "Bordeaux is larger than Lille.", "related"),
        ("Rates rose from 3 percent to 4 percent.", "Rates rose to 3 percent.", "contradicted"),
        ("It holds up to 80 persons.", "It holds at least 80 persons.", "contradicted"),
        ("The samples were not clean unless washed.", "The samples were clean.", "related"),
        ("All parts but the battery are covered.", "The battery is covered.", "related"),
        ("It is a myth that bulls hate red.", "Bulls hate red.", "related"),
        ("Many wrongly believe that bulls hate red.", "Bulls hate red.", "related"),
        ("That bulls hate red has been debunked.", "Bulls hate red.", "related"),
        ("True or false: bulls hate red.", "Bulls hate red.", "related"),
        ("The mill was formerly a prison.", "The mill is a prison.", "related"),
        ("The mill was formerly a prison.", "The mill was a prison.", "supported"),
        ("The school used to have a pool.", "The school has a pool.", "related"),
        ("The salt is used to clear roads.", "The salt clears roads.", "supported"),
        ("Before 2019 the Lunds owned the mill.", "The Lunds own the mill.", "related"),
        ("Until May smoking was allowed here.", "Smoking is allowed here.", "related"),
        ("The shop is open until late at night.", "The shop is open at night.", "supported"),
        ("The union said the mill would close.", "The mill closed.", "related"),
        ("The results are to be published in June.", "Results were published in June.", "related"),
        ("The drug is thought to act on the liver.", "The drug acts on the liver.", "related"),
        ("Doctors tried to reach all, and reached 9.", "Doctors reached all.", "related"),
        ("It plans to plant 90 trees, and planted 8.", "It planted 90 trees.", "related"),
        ("It plans to plant 90 trees, and planted 8.", "It planted 8 trees.", "supported"),
        ("It was paid by Lund and run by Oslo.", "Lund ran it.", "related"),
        ("It was paid by Lund and run by Oslo.", "Oslo ran it.", "supported"),
        ("The mayor's deputy opened the school.", "The mayor opened the school.", "related"),
        ("Lund's success opened markets.", "Lund opened markets.", "supported"),
        ("Guests are advised to lock the gate.", "Guests must lock the gate.", "related"),
        ("Guests are advised to lock the gate.", "Guests are told to lock the gate.", "supported"),
        ('"The gate is ugly," she said.', "The gate is ugly.", "related"),
        ("The former owners had the use of it.", "The owners have the use of it.", "related"),
        ("There were 9 ferries and 3 yachts.", "There were more yachts than ferries.", "related"),
        ("Critics say that the gate is ugly.", "Lund says that the gate is ugly.", "related"),
        ("Critics say that the gate is ugly.", "Critics say the gate is ugly.", "supported"),
        (
            "The hall seats 640 people, 120 of them on the balcony.",
            "The balcony seats 640 people.",
            "related",
        ),
        (
            "The ship is older than the hall, but the oldest part is a tower.",
            "The ship is the oldest part.",
            "related",
        ),
        ("The mill would close years later.", "The mill closed years later.", "supported"),
        ("The office opened in 2019.", "The office opened on 3 May 2019.", "related"),
        ("There was an increase of 23 farms.", "It increased to 200 farms.", "related"),
        ("Costs rose by $52 million.", "Costs were $71 million.", "related"),
        ("In 2021 costs rose by $52 million.", "In 2022 costs were $71 million.", "related"),
        ("Net sales were $14.2 billion.", "Net sales were $14,189 million.", "related"),
        ("A stone fell off the old truck.", "A stone fell off the old house.", "related"),
        ("The fee was low. Few complained.", "Mayor Smith introduced the low fee.", "related"),
        ("The fee was low. Few complained.", "17 shops complained about the fee.", "related"),
        ("Ants, not slave-makers, carry pupae.", "Slaves carry pupae.", "supported"),
        ("At least 15 nurses must be there at night.", "20 nurses were there at night.", "related"),
        ("Its population grew from 1900 on.", "Its population fell from 1900 on.", "contradicted"),
        ("The rate is 4.5% a month.", "The rate is 4.5% a year.", "contradicted"),
        ("The dose was given twice a day.", "The dose was given once daily.", "contradicted"),
        ("Over 50 % of the votes control it.", "Over 25 % of the votes control it.", "related"),
        ("It was built before 1967.", "It was built in 1965.", "related"),
        ("Reports are made despite not being mandatory.", "Reports are mandatory.", "contradicted"),
        ("Hot packs have no effect on blood flow.", "Hot packs increase blood flow.", "related"),
        ("The court may disallow a claim.", "The court must disallow a claim.", "related"),
        ("The trust plans to open a school.", "The trust has opened a school.", "related"),
        ("Ants may bite, and may sting.", "Ants may sting.", "supported"),
        ("Staff get four hours of leave.", "Staff get at most 240 hours of leave.", "related"),
        ("It is for ages 21 to 30.", "It is for ages 18 to 45.", "related"),
        ("It lasted > 3 weeks.", "It lasted more than 3 weeks.", "supported"),
        ("A fine not exceeding $1,500 is due.", "A fine of up to $1,500 is due.", "supported"),
        ("They were prevented from getting any pupae.", "They got pupae.", "contradicted"),
        ("Masters starve without a slave.", "The slaves do not fight their masters.", "related"),
        ("Sales for 2021 rose to 40 dollars compared to 35 dollars in 2020.",
         "Sales were 40 dollars in 2020.", "contradicted"),
        ("Sales for 2021 rose to 40 dollars compared to 35 dollars in 2020.",
         "Sales were 35 dollars in 2020.", "supported"),
        ("The rate was 21% compared to 26% in 2021.", "The rate was 21% in 2021.", "contradicted"),
        ("It was 0.3 times in May compared to 1.3 times in June.",
         "It fell from 1.3 times to 0.3 times.", "related"),
        ("In 2002, 58 percent voted, up from 49 percent two years before.",
         "In 2000, 49 percent voted.", "related"),
        ("Some of them saw it.", "Not all of them saw it.", "supported"),
        ("Sales increased, with a decrease in costs.", "Costs fell.", "related"),
        ("The dye is harmful to fish.", "The dye is harmless to fish.", "related"),
        ("It uses https by default.", "It uses http by default.", "related"),
    ],
)  # fmt: skip
def test_words_alone_do_not_support(sentence: str, claim: str, verdict: str) -> None:
    assert judge(claim, [passage(sentence)]).verdict in {verdict, "related"}
    if verdict == "contradicted":
        assert judge(claim, [passage(sentence)]).verdict == verdict


def test_neighbours_are_those_of_the_text() -> None:
    told = passage("Ann Berg spoke first.", "Nobody answered.", "She left by the early train.")
    first, second, third = told.hits
    shuffled = replace(told, hits=(third, first, second))  # best first
    assert judge("Ann Berg left by the early train.", [shuffled]).verdict == "related"
    found = passage(
        "The clerk Ann Berg rang.", "At noon Carl Holm found the brown dog in the park."
    )
    claim = "The clerk Ann Berg found the brown dog in the park at noon."
    assert judge(claim, [found]).verdict == "related"


def test_a_number_of_something_else_is_no_rival_of_one_that_is_there() -> None:
    deposit = passage("The agreement shall be deposited by the parties within one month.")
    term = passage("The parties choose its term, which is three years.")
    claim = "An agreement of the parties must last at least three years."
    assert judge(claim, [deposit]).verdict == "contradicted"
    assert judge(claim, [deposit, term]).verdict == "related"
    assert judge(claim.replace("three", "four"), [deposit, term]).verdict == "contradicted"


def test_words_far_apart_do_not_support() -> None:
    between = "who had come by boat and left it at the pier of the harbour near to it all, " * 3
    apart = f"Bees were shown to the guests, {between}and they looked at wax."
    assert judge("Bees looked at wax.", [passage(apart)]).verdict == "related"
    near = apart.replace(between, "")
    assert judge("Bees looked at wax.", [passage(near)]).verdict == "supported"


def test_questions_and_orders_cannot_be_judged():
    assert why_not("Was the fee raised in 1998?")
    assert why_not("Please raise the fee.")
    assert why_not("Open the valve at noon.")
    assert why_not("I wish the fee were lower.")
    assert why_not("After the vote the fee was raised.") is None
    assert why_not("In the first year the fee was raised.") is None
    assert why_not("Finally the fee was raised.") is None
    assert why_not("Apply the brakes.")
    assert why_not("Pressing the button twice keeps it warm.") is None
    assert why_not("The fee was raised.") is None
    assert judge("Was the fee low?", [passage("The fee was low.")]).verdict == "related"


@pytest.mark.parametrize(
    ("claim", "said", "verdict", "sentence"),
    [
        # what rules leave open
        ("The honey of the summer was poor.", (0.9, 0.05, 1), "supported", 1),
        ("The honey of the summer was poor.", (0.1, 0.8, 0), "contradicted", 0),
        # rules support: a model that contradicts decides, one that doubts leaves it open
        ("The fee was raised in 1998.", (0.1, 0.8, 0), "contradicted", 0),
        ("The fee was raised in 1998.", (0.5, 0.3, 0), "supported", 0),
        ("The fee was raised in 1998.", (0.1, 0.3, 0), "supported", 0),
        ("The fee was raised in 1998.", (0.1, 0.65, 0), "related", None),
        ("The fee was officially raised to 5 dollars in 1998.", (0.7, 0.1, 0), "related", None),
        ("The fee was officially raised to 5 dollars in 1998.", (0.8, 0.1, 0), "supported", 0),
        # nothing could be in the place of a number
        ("Bees gave 17 kilograms in the summer.", (0.0, 0.9, 1), "related", None),
        # rules contradict
        ("The fee was raised in 1989.", (0.95, 0.01, 0), "contradicted", 0),
        # the model reads English
        ("Der Honig des Jahres war sehr schlecht und wenig.", (0.9, 0.0, 0), "related", None),
    ],
)
def test_a_model_decides_what_rules_do_not(
    claim: str, said: tuple[float, float, int], verdict: str, sentence: int | None
) -> None:
    about = passage("The fee was raised to 5 dollars in 1998.", "Bees gave little in the summer.")
    given = Said(said[0], said[1], about.hits[said[2]])
    found = judge(claim, [about], lambda passages: [given])
    assert found.verdict == verdict
    text = None if sentence is None else about.hits[sentence].text
    assert (found.sentence and found.sentence.text) == text


def test_the_strongest_of_several_passages_decides() -> None:
    both = [passage("Bees sleep."), passage("Wasps do other things in the dark.")]
    said = [Said(0.75, 0.1, both[0].best), Said(0.1, 0.85, both[1].best)]
    found = judge("Wasps sleep at night.", both, lambda passages: said)
    assert found.verdict == "contradicted"
    assert found.sentence is not None
    assert found.sentence.text == both[1].text


def test_a_model_does_not_judge_by_what_is_about_something_else() -> None:
    other = replace(passage("Two children are bouncing on pogo sticks."), score=0.02)
    for claim in ("The tower in Paris is very tall.", "zebra crossing"):
        found = judge(claim, [other], lambda passages: [Said(0.0, 0.9, other.best)])
        assert found.verdict == "related"
    alone = replace(other, score=0.2)  # as the best of a short text
    found = judge("Bees never sleep.", [alone], lambda passages: [Said(0.0, 0.95, alone.best)])
    assert found.verdict == "related"


def test_another_name_or_number_is_not_supported() -> None:
    led = passage("From 1988 to 1993 Dr. Elena Maria Ruiz led the excavation with Prof. Kern.")
    crash = passage("All 189 people on board of the plane died.", "It was new.")
    for about, claim, verdict in (
        (led, "Clara Ruiz was head of the dig.", "related"),
        (led, "In 1988 Clara Ruiz led the excavation.", "related"),
        (led, "Elena Ruiz was head of the dig.", "supported"),
        (led, "E. Ruiz was head of the dig.", "supported"),
        (led, "Dr. Ruiz was head of the dig.", "supported"),
        (led, "Otto Kern dug there.", "supported"),
        (crash, "The accident killed 157 people.", "related"),
        (crash, "The accident killed 189 people.", "supported"),
    ):
        said = Said(0.95, 0.0, about.best)
        assert judge(claim, [about], lambda passages, said=said: [said]).verdict == verdict, claim


@pytest.mark.parametrize("by_judge", [False, True])
def test_a_judge_reads_roles_and_what_has_no_number_beside_it(by_judge: bool) -> None:
    led = passage("From 1988 to 1993 Dr. Elena Maria Ruiz led the excavation with Prof. Kern.")
    hall = passage("Capacities include seats and standing areas, and exclude temporary seating.")
    bees = passage("Bees gave little honey in the summer.")
    for about, claim, said, verdict in (
        (hall, "Capacities include seats.", (0.95, 0.0), "supported" if by_judge else "related"),
        (bees, "Bees gave 17 kilograms in the summer.", (0.0, 0.9),
         "contradicted" if by_judge else "related"),
        (led, "Clara Ruiz was head of the dig.", (0.95, 0.0), "related"),
        (bees, "The harvest of bees was 17 kilograms.", (0.95, 0.0), "related"),
    ):  # fmt: skip
        given = Said(*said, about.best, by_judge)
        found = judge(claim, [about], lambda passages, given=given: [given])
        assert found.verdict == verdict, claim


def test_a_passage_that_a_model_sides_with_is_about_the_claim() -> None:
    both = [passage("Bees sleep little."), passage("Wasps sleep in the dark.")]
    said = [Said(0.4, 0.3, both[0].best), Said(0.4, 0.4, both[1].best)]
    found = judge("Most insects sleep at night.", both, lambda passages: said)
    assert (found.verdict, found.about) == ("related", (both[1],))


@pytest.mark.parametrize(
    ("sentence", "claim", "verdict"),
    [
        ("Die Schule kostete die Gemeinde 850.000 Euro.", "Sie kostete 850000 Euro.", "related"),
        (
            "Die Schule kostete 850.000 Euro.",
            "Die Schule kostete 900000 Euro.",
            "contradicted",
        ),
        ("Le salaire brut est de 38 500 euros.", "Le salaire est de 38.500 euros.", "related"),
        ("Vous ne travaillerez pas le vendredi.", "Vous travaillerez le vendredi.", "related"),
        ("Wij hebben geen schade aan het huis.", "We hebben schade aan het huis.", "related"),
        ("Der Käufer darf nicht verkaufen.", "Der Käufer darf verkaufen.", "related"),
        ("Revenue rose 3 percent.", "Revenue fell 3 percent.", "contradicted"),
    ],
)
def test_claims_of_other_languages_are_judged_by_numbers_and_dates(
    sentence: str, claim: str, verdict: str
) -> None:
    assert judge(claim, [passage(sentence)]).verdict == verdict


def test_a_difference_names_what_stands_in_its_place() -> None:
    place = passage("They enrolled people between June 2019 and August 2021.")
    found = judge("They enrolled people from June 2019 to August 2020.", [place]).sentence
    assert found is not None
    assert [(each.text, each.given) for each in found.differences] == [
        ("August 2021", "August 2020")
    ]
