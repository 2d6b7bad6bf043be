"""Claims with the words of a sentence in other roles."""

import pytest

from milepost.checking.claims import Said, judge
from support.claims import passage

FIRM = "The firm's profit fell from 12 to 9 million in 2022, although its sales rose."
FEES = "Tickets cost $12 for adults and $5 for children."
MILL = "The mill was not destroyed by the flood of 1965; it burned down in 1971."
TRIAL = "Ada Ruiz led the trial, and Mark Hale read it."
VOTE = "Only members may vote, and guests must leave before the count."
HEIR = "The owner sold the lower mill to his brother in 1998."


@pytest.mark.parametrize(
    ("sentence", "holds", "fails"),
    [
        (FIRM, "The firm's profit fell in 2022.", "The firm's sales fell in 2022."),
        (FEES, "A ticket for children costs $5.", "Adults pay $5 for a ticket."),
        (MILL, "The mill burned down in 1971.", "The mill burned down in 1965."),
        (TRIAL, "Ada Ruiz led the trial.", "Mark Hale led the trial."),
        (VOTE, "Only members may vote.", "Guests may vote."),
        (HEIR, "The lower mill was sold in 1998.", "The brother sold the lower mill to the owner."),
        ("Salmon spawn in rivers, whereas eels spawn in the sea.", "Eels spawn in the sea.",
         "Salmon spawn in the sea."),
        ("The treasurer resigned in June, and the chairman was re-elected.",
         "The treasurer resigned.", "The treasurer was re-elected."),
        ("Oil prices rose in March, while gas prices fell.", "Oil prices rose in March.",
         "Gas prices rose in March."),
        ("Ann was born in Pisa and moved to Rome.", "Ann was born in Pisa.",
         "Ann was born in Rome."),
        ("Of these, 14 had a cough and 3 had a fever.", "Of these 14 had a cough.",
         "14 patients had a fever."),
        ("It opened a shop in 2003 after selling wax in 2001.", "It sold wax in 2001.",
         "It sold wax in 2003."),
        ("Ann defeated Bob in the final.", "Ann defeated Bob.", "Bob defeated Ann in the final."),
        ("Kim and Lee joined in 2011 and 2014, respectively.", "Lee joined in 2014.",
         "Lee joined in 2011."),
        ("At the time, Kim and Lee were 31 and 29 years old, respectively.",
         "At the time Lee was 29 years old.", "At the time Lee was 31 years old."),
        ("Groups A, B and C received 5, 10 and 20 mg of the drug, respectively.",
         "Group B received 10 mg of the drug.", "Group B received 20 mg of the drug."),
        ("The mean and the median were 12 and 14 days, respectively.", "The mean was 12 days.",
         "The mean was 14 days."),
        ("The employee must inform the employer at once.", "The employee must inform the employer.",
         "The employer must inform the employee."),
        ("The lessor let the licensees in.", "The lessor let the licensees in.",
         "The lessee let the licensors in."),
        ("They met in May, and were married in June.", "They were married in June.",
         "They were married in May."),
        ("Some 80 teachers were dismissed, most of them women.", "Some 80 teachers were dismissed.",
         "Some 80 women were dismissed."),
        ("The group sold 400 tractors in Latvia, 35 in Malta.", "It sold 35 tractors in Malta.",
         "It sold 400 tractors in Malta."),
        ("The nurse gave 100 doses to the two wards.", "The nurse gave 100 doses to two wards.",
         "The nurse gave 100 doses to each of the two wards."),
        ("A burglar tried to open the safe.", "A burglar tried to open the safe.",
         "A burglar opened the safe."),
        ("The council will close the baths.", "The council will close the baths.",
         "The council has closed the baths."),
        ("The council is about to close the baths.", "The council is about to close the baths.",
         "The council closed the baths."),
        ("The clerk reports to Ann Hill.", "The clerk reports to Ann Hill.",
         "Ann Hill reports to the clerk."),
        ("The pump may be used only with its own base.",
         "The pump may be used only with its base.", "The pump may be used with any base."),
        ("While some banks raised their fees, others such as Sparbank kept them.",
         "Some banks raised their fees.", "Sparbank raised its fees."),
        ("Mozilla Foundation is the steward of the licence.",
         "The licence has the Mozilla Foundation as its steward.",
         "The licence has the Apache Foundation as its steward."),
        ("The strike led to a fall in income from the ferries.",
         "The fall in income from the ferries was due to the strike.",
         "The strike was due to a fall in income from the ferries."),
        ("Rashes were more frequent with 25 mg than with placebo, and four patients stopped.",
         "Rashes were more frequent with 25 mg than with placebo.",
         "Rashes were more frequent with placebo than with 25 mg."),
        ("Two clerks were attacked by the manager of the hall.",
         "Two clerks were attacked by the manager of the hall.",
         "The manager of the hall was attacked by two clerks."),
        ("The rate was 1.12 a year with 10 mg and 1.05 a year with 25 mg.",
         "The rate was 1.05 a year with 25 mg.", "The rate was 1.05 a year with 10 mg."),
        ("The battery lasts 35 minutes on eco and 12 minutes at full pressure.",
         "The battery lasts 35 minutes on eco.",
         "The battery lasts 35 minutes at full pressure."),
        ("Profit before tax was £821.6 million (2018: £856.8 million).",
         "Profit before tax was £821.6 million.", "Profit before tax was £856.8 million."),
        ("Buyers in Oslo pay for the return; in all other towns the shop pays for it.",
         "In all other towns the shop pays for the return.",
         "In all towns the shop pays for the return."),
        ("Parliament pledged to send troops to the coast.",
         "Parliament pledged to send troops to the coast.",
         "Parliament sent troops to the coast."),
        ("The firm sells old machines to schools. None go to Kenya.",
         "The firm sells old machines to schools.",
         "The firm sells old machines to schools in Kenya."),
    ],
)  # fmt: skip
def test_words_in_other_roles_do_not_support(sentence: str, holds: str, fails: str) -> None:
    assert judge(holds, [passage(sentence)]).verdict == "supported"
    assert judge(fails, [passage(sentence)]).verdict == "related"


@pytest.mark.parametrize(
    ("sentence", "holds", "fails"),
    [
        ("Some of the shares were owned by them.", "Some of the shares were owned by them.",
         "The shares were all owned by them."),
        ("The houses were not all sold.", "The houses were not all sold.",
         "The houses were all sold."),
        ("The patients were unaware of it.", "The patients were not aware of it.",
         "The patients were aware of it."),
        ("The crane in the yard is not used.", "The crane in the yard isn't used.",
         "The crane in the yard is used."),
        ("A guest may take 20 kg, which is the limit.", "A guest may take 20 kg.",
         "A guest may take 25 kg."),
        ("Luggage is capped at 20 kg.", "Luggage is limited to 20 kg.",
         "Luggage is at least 20 kg."),
        ("The prices are exclusive of taxes.", "The prices do not include taxes.",
         "The prices include taxes."),
        ("The hill is devoid of trees.", "The hill has no trees.", "The hill has trees."),
        ("Hill resigned rather than carry out the order.", "Hill did not carry out the order.",
         "Hill carried out the order."),
        ("Rushes grow here instead of reeds.", "No reeds grow here.", "Reeds grow here."),
        ("Hill spoke as opposed to writing.", "Hill did not write.", "Hill wrote."),
        ("Hill omitted to sign the deed.", "Hill did not sign the deed.", "Hill signed the deed."),
        ("The sum is unknown.", "The sum is unknown.", "The sum is known."),
        ("He is the elder brother of Jeff Hill, and son of Lloyd Hill.",
         "He is the elder brother of Jeff Hill.", "He is the younger brother of Jeff Hill."),
        ("The film is two and a half hours long.", "The film is 150 minutes long.",
         "The film is half hour long."),
        ("It is 26 miles long.", "It is 26 miles long.", "It is 26 miles and 385 yards long."),
        ("The packet has 87 bytes.", "The packet has less than 90 bytes.",
         "The packet is smaller than 80 bytes."),
    ],
)  # fmt: skip
def test_words_in_other_places_contradict(sentence: str, holds: str, fails: str) -> None:
    assert judge(holds, [passage(sentence)]).verdict == "supported"
    assert judge(fails, [passage(sentence)]).verdict == "contradicted"


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("No tenant who has paid may be evicted.", "A tenant who has paid may not be evicted."),
        ("It was the first time that the lake froze.", "The lake had never frozen before."),
        ("Eat after you paid for the meal.", "Pay for the meal before you eat."),
        ("Guests must not enter without a ticket.", "Guests need a ticket to enter."),
        ("Do not add salt before the peas are soft.", "Salt is added after the peas are soft."),
        ("Repairs of less than 50 dollars are free.", "A repair of 30 dollars is free."),
        ("It shrank from 12 to 7.5 acres since 1960.", "Since 1960 it lost 4.5 acres."),
        ("He began to record in 1890.", "He began to record in 1889 or 1890."),
        ("France joined in 1778, and Spain the following year.", "Spain joined in 1779."),
        ("The patients got better (95 % CI 3 to 7).", "Half of the patients got better."),
        (
            "Install the pump if the grant is awarded by May; otherwise replace the boiler.",
            "If the grant is not awarded by May, replace the boiler.",
        ),
        ("The cheque was for Sheet No 72 of the plan.", "The cheque was for Sheet 72 of the plan."),
        ("We use wax instead of the old honey.", "The old honey was replaced by wax."),
        ("RFC 1122 is changed by this document.", "RFC 2988 is replaced by this document."),
        ("Net profit was 21 million dollars.", "Net profit was 8 million dollars lower."),
        (
            "Debt rose to 9 million dollars despite the profit.",
            "The profit fell to 3 million dollars.",
        ),
    ],
)
def test_the_same_turned_round_does_not_contradict(sentence: str, claim: str) -> None:
    assert judge(claim, [passage(sentence)]).verdict != "contradicted"


def test_not_before_a_date_denies_nothing_after_it() -> None:
    about = passage("The report may not be sold before January.")
    assert judge("The report may be sold from January on.", [about]).verdict == "related"
    assert judge("The report may be sold before January.", [about]).verdict == "contradicted"


@pytest.mark.parametrize(
    ("sentence", "fails"),
    [(FIRM, "The firm's sales fell in 2022."), (VOTE, "Guests may vote."),
     (HEIR, "The brother sold the lower mill to the owner."), (TRIAL, "Mark Hale led the trial."),
     ("Ann beat Bob in the final.", "Bob beat Ann in the final."),
     ('They recorded the album "Here and Now".', 'They recorded the album "Now".'),
     ("Colm Murphy drank the wine.", "Colm Murphy and Ann Daly drank the wine."),
     ("It is the fourth largest lake there.", "It is the largest lake there."),
     ("None but Jake won the game.", "None won the game.")],
)  # fmt: skip
def test_nor_does_a_model_that_supports_them(sentence: str, fails: str) -> None:
    about = passage(sentence)
    sure = Said(0.95, 0.01, about.best)
    assert judge(fails, [about], lambda passages: [sure]).verdict == "related"


def test_a_number_that_stands_without_its_unit_does_not_contradict() -> None:
    about = passage("The bridge cost 14 million euros, two million more than planned.")
    claim = "The bridge cost two million euros more than planned."
    assert judge(claim, [about]).verdict == "related"


def test_a_model_may_doubt_a_name_in_a_sentence_that_lacks_other_words() -> None:
    about = passage("No licence or other rights to Proprietary Information are granted here.")
    claim = "The lease grants no rights to Confidential Information."
    assert judge(claim, [about]).verdict == "contradicted"
    sure = Said(0.9, 0.01, about.best)
    assert judge(claim, [about], lambda passages: [sure]).verdict == "related"


def test_a_repeated_word_claims_nothing() -> None:
    about = passage("The rent is 850 euros a month.")
    sure = Said(0.9, 0.01, about.best)
    assert judge("rent " * 9, [about], lambda passages: [sure]).verdict == "related"
