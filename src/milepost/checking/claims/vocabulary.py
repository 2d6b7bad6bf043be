"""English words that decide what a sentence says: negations, quantifiers, opposites, peoples."""

from __future__ import annotations

import re
from functools import lru_cache

from milepost.language.patterns import late
from milepost.language.stemming import stem

_IRREGULAR = {
    form: words.split()[0]
    for words in """
be is are was were been being am|have has had|do does did done|begin began begun|rise rose risen
fall fell fallen|grow grew grown|win won|lose lost|buy bought|sell sold|leave left|make made
write wrote written|become became|lead led|hold held|take took taken|give gave given|go went gone
come came|see saw seen|find found|know knew known|say said|tell told|bring brought|build built
speak spoke spoken|steal stole stolen|break broke broken|choose chose chosen|drive drove driven
fight fought|catch caught|teach taught|think thought|send sent|spend spent|keep kept|sleep slept
meet met|pay paid|stand stood|sit sat|run ran|sing sang sung|swim swam swum|wear wore worn
bear born borne|beat beaten|eat ate eaten|fly flew flown|get got gotten|draw drew drawn|shoot shot
throw threw thrown|understand understood|forget forgot forgotten|child children|man men|woman women
foot feet|die died dying dies death dead|freeze froze frozen|hide hid hidden|lay laid|feed fed
life lives|wife wives|leaf leaves|mouse mice|good well|high height|long length|wide width
deep depth|strong strength|marry marriage|die death|lie lay|film movie|begin start started starts
""".replace("\n", "|").split("|")
    for form in words.split()
}


@lru_cache(maxsize=1 << 16)
def base(word: str) -> str:
    """The stem of a lower-case word, of an irregular form that of its first form."""
    return stem(_IRREGULAR.get(word, word))


_AUXILIARIES = frozenset(
    "can could may might must shall should will would cannot does did not never then also".split()
)


def is_verb(word: str) -> bool:
    """Whether a lower-case word that begins a clause shows that it has no subject of its own."""
    return word in _AUXILIARIES or word in _IRREGULAR or word.endswith(("ed", "ing", "ly"))


def is_past_form(word: str) -> bool:
    """Whether a lower-case word is an irregular form of another word."""
    return _IRREGULAR.get(word, word) != word


NEGATIONS = frozenset(
    """
    lack lacks lacked lacking no non not never none nobody nothing neither nor nowhere without
    cannot hardly scarcely barely
    rarely seldom unable n't isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't
    couldn't shouldn't hasn't haven't hadn't mustn't needn't ain't zero
    """.split()
)
"""Words that deny what follows them."""

NEGATIONS_WITH_TO = frozenset(
    """fail fails failed failing refuse refuses refused refusing decline declined declines neglect
    neglected yet ceased stopped omits omitted omitting forgot declining neglects unwilling
    """.split()
)
"""Words that deny what follows where "to" is behind them: "failed to appear", "has yet to"."""

PREVENTING = frozenset(
    """
    prevent prevents prevented preventing prohibit prohibits prohibited bar bars barred ban
    banned stop stops stopped keep keeps kept hinder hinders hindered discourage discouraged
    refrain refrains refrained abstain abstained
    """.split()
)
"""Words that deny what follows a "from" behind them: "prevented them from leaving"."""

NOT_DENYING = frozenset(
    (negation, word)
    for negation, words in {
        "not": "only just merely necessarily less more until for later all every each always both",
        "no": "doubt later earlier more less fewer matter",
        "cannot": "but",
        "nothing": "but",
        "zero": "or",
    }.items()
    for word in words.split()
)
"""A negation and the word behind it that together deny nothing."""

CLAUSE_ENDS = frozenset(
    ". ; : ! ? ( ) — but although though while whereas because since unless however".split()
)
"""Words and signs behind which a negation has no effect."""

_PREFIXES = ("un", "in", "im", "non", "dis", "ir", "il")


def is_prefixed(one: str, other: str) -> bool:
    """Whether one of two words is the other one's opposite by its first letters: "unaware"."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return len(short) > 3 and long.endswith(short) and long.removesuffix(short) in _PREFIXES


QUANTIFIERS = {
    **dict.fromkeys(("all", "every", "each", "always", "entire", "entirely"), 1.0),
    **dict.fromkeys(("most", "mostly", "usually", "majority"), 0.7),
    **dict.fromkeys(("half",), 0.5),
    **dict.fromkeys(("some", "several", "sometimes", "occasionally", "partly", "certain"), 0.3),
    **dict.fromkeys(("few", "minority", "rarely", "seldom"), 0.1),
}
"""Words for a share of all, and the share."""

EXCLUSIVE = frozenset(["only", "solely", "exclusively", "alone", "sole", "purely"])
"""Words that say that nothing else holds."""

OTHERS = frozenset(["other", "others", "remaining"])
"""Words that leave out what was named before."""

PRONOUNS = frozenset(["he", "she", "they"])
"""Words that stand for one whom a sentence in front names."""

UNIVERSAL = frozenset(["any", "anyone", "anybody", "all", "every", "everyone", "everybody"])
"""Words that say that nothing is left out."""

TENTATIVE = frozenset(
    """
    may might could should plan plans planned planning intend intends intended aim aims aimed hope
    hopes hoped expect expects expected propose proposes proposed potentially target targets want
    wants wanted consider considers unlikely
    """.split()
)
"""Words that say of something that it is not so yet, or not for sure..."""

TRYING = frozenset(
    map(
        base,
        """
        try tried attempt seek agree vow promise negotiate offer prepare pledge undertake commit
        decide resolve vote threaten ask request urge order instruct authorise plan intend hope aim
        expect propose want consider
        """.split(),
    )
)
"""Stems of verbs that say of what follows their "to" that it is not done yet."""

AHEAD = frozenset(map(base, "be about go set due schedule suppose".split()))
"""Stems of words that say so of what follows a "to" directly behind them."""

SAYING = frozenset(
    """
    say says said stated announced announces claimed argues argued warns warned predicts predicted
    believe believes believed think thinks thought insist insists insisted promised hoped feared
    told expected assured
    """.split()
)
"""Words behind which somebody's opinion stands, and "would" is not done yet."""

LACKING = (
    *("exclusive of", "devoid of", "bereft of", "free of", "free from", "exempt from"),
    *("instead of", "in lieu of", "in place of", "rather than", "as opposed to"),
)
"""Words that deny what follows them."""

POSSIBLE = TENTATIVE | {"can", "would", "possible", "possibly", "perhaps", "likely", "probably"}
"""...and those that a claim may have for them."""

FRAMES = {
    "exception": late(
        r"\b(?:except(?:ing)?|exclud(?:es?|ing)|unless|other than|apart from|aside from|barring"
        r"|(?:nobody|none|all|every\w*|any\w*|no one)(?: \w+)? but)\b",
        re.IGNORECASE,
    ),
    "condition": late(
        r"\b(?:if|unless|whether|provided that|in case|would have|(?:as|so) long as|on condition"
        r"|assuming|in the event)\b|(?:^|[,;:] )subject to\b",
        re.IGNORECASE,
    ),
    "belief": late(
        r"\b(?:is|are|was|were|be|been) (?:\w+ly )?(?:thought|believed|said|alleged|suspected"
        r"|supposed|assumed|rumou?red|claimed|feared) to\b",
        re.IGNORECASE,
    ),
    "disbelief": late(
        r"\b(?:den(?:y|ies|ied)|myths?|falsely|hoax|wrong to|incorrect(?:ly)? (?:to|that|stat\w+)"
        r"|untrue|misconception|no evidence|not true|rejects?|rejected|true or false"
        r"|(?:wrong|mistaken|erroneous)ly|mistaken|debunked|disprove[dn]?|refute[ds]?|discredited)\b",
        re.IGNORECASE,
    ),
}
"""What makes of a statement another one, if it stands on one side alone."""

DOUBTS = frozenset(["belief", "disbelief"])
"""The frames of what is not said to be so."""

LIGHT_VERBS = frozenset(
    """
    called named known made make makes used use uses located involved given took taken put work
    works worked
    """.split()
)
LIGHT = LIGHT_VERBS | frozenset(
    """
    well etc mr mrs ms dr one us therefore thus since per via within among according currently
    really quite still even ever like someone something person people part parts group came come
    comes place around near type types kind different however various one's there's it's he's she's
    that's including include includes least
    """.split()
)
"""Words that say too little for a claim to depend on them."""

OPPOSITES: dict[str, set[str]] = {}  # stem of a word → stems of words that mean the opposite
for _pair in """
increase/decrease increase/reduce increase/decline increase/fall increase/drop increase/lower
rise/fall rise/drop rise/decline raise/lower raise/cut grow/shrink grow/decline grow/fall grow/drop
grow/decrease climb/fall climb/drop gain/lose most/least most/fewest higher/lower high/low
greater/less greater/smaller larger/smaller large/small big/small bigger/smaller largest/smallest
biggest/smallest highest/lowest tallest/shortest longest/shortest longer/shorter long/short
before/after earlier/later early/late earliest/latest first/last oldest/youngest oldest/newest
older/younger old/young old/new win/lose winner/loser victory/defeat begin/end begin/finish
start/stop open/close accept/reject accept/refuse accept/decline allow/forbid allow/prohibit
allow/ban permit/prohibit permit/forbid approve/reject support/oppose alive/dead born/died
birth/death live/die above/below over/under north/south east/west northern/southern eastern/western
northeast/northwest southeast/southwest male/female man/woman boy/girl son/daughter brother/sister
father/mother husband/wife love/hate success/failure succeed/fail positive/negative better/worse
best/worst major/minor maximum/minimum buy/sell enter/leave include/exclude public/private
true/false hot/cold left/right inside/outside indoor/outdoor appear/disappear arrive/depart
always/never often/rarely many/few improve/worsen strengthen/weaken strong/weak upper/lower
ally/enemy fast/slow quick/slow heavy/light thick/thin deep/shallow wide/narrow rich/poor
full/empty wet/dry safe/dangerous easy/difficult easy/hard simple/complex mandatory/optional
mandatory/voluntary required/optional legal/illegal possible/impossible likely/unlikely able/unable
common/rare absent/present guilty/innocent lend/borrow import/export teacher/student
cheap/expensive cheapest/costly cheapest/expensive up/down upward/downward promote/inhibit
promote/suppress induce/inhibit enhance/reduce enhance/impair enhance/inhibit accelerate/slow
deficiency/excess benign/malignant acute/chronic favourable/unfavourable favorable/unfavorable
attack/defend agree/disagree connect/disconnect front/back ancient/modern summer/winter day/night
morning/evening monday/tuesday king/queen actor/actress prince/princess hero/villain former/current
same/different single/married comedy/tragedy praised/criticized praise/criticise positive/mixed
conservative/liberal divorce/marry amateur/professional fiction/nonfiction temporary/permanent
internal/external partial/complete exclude/contain add/remove create/destroy build/destroy
create/demolish push/pull float/sink faster/slower quicker/slower stronger/weaker heavier/lighter
wider/narrower deeper/shallower eldest/youngest elder/younger highly/slightly continue/stop
raise/reduce within/outside junior/senior gross/net light/dark more/less more/fewer pass/fail
asleep/awake sit/stand deny/confirm reveal/hide remember/forget
""".split():
    _one, _other = map(base, _pair.split("/"))
    OPPOSITES.setdefault(_one, set()).add(_other)
    OPPOSITES.setdefault(_other, set()).add(_one)

COMPLEMENTS = {
    one: other
    for pair in """
    open/closed alive/dead true/false present/absent asleep/awake guilty/innocent
    """.split()
    for one, other in (pair.split("/"), pair.split("/")[::-1])
}
"""Words of which one holds wherever the other does not, behind a form of "be"."""

STATES = frozenset(["be", "remain", "stay"])  # stems of verbs in front of a state

OFFICES = frozenset(
    """
    miss sir lady lord king queen prince princess president professor doctor senator governor mayor
    minister chancellor secretary chairman chairwoman judge justice general captain colonel major
    lieutenant sergeant pope bishop saint father mother brother sister uncle aunt director
    """.split()
)
"""Words in front of a name that are no part of it, beside abbreviated titles."""
