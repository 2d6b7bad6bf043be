"""Words whose full stop does not end a sentence, grouped by what follows them. Data only.

The trained splitter knows most English abbreviations. These lists add the ones it misses, and those
of languages it was not trained on. All words are in lower case, without the last full stop.
"""

from __future__ import annotations


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


TITLES = _words(
    """
    dr mr mrs ms prof rev hon sr sra dra fr st ste mt ft lt col gen capt sgt cpl maj cmdr adm gov
    sen rep pres supt insp m mm mme mmes mlle hr fr frl herr ing dipl mag pfr hl st д-р проф акад
    гр г-н г-жа св ул пер пл пр-т им dhr mevr mw drs mgr inż hab św ks doç sn av hz ga
    κα ppłk abp yrd öğr uzm müh gdč inž akad revd cllr cllrs ald
    dott avv excmo excma exmo exma dña ee dl judr mudr вул
    """
)
"""Titles; not a sentence end before a capitalised word, even one of ``OPENERS``."""

LEADING = _words(
    """
    e.g i.e eg ie cf viz vs ca approx z.b d.h bzw vgl sog т.е напр ср p.ex par.ex c.-à-d p.ej
    bijv bv d.w.z dwz m.a.w i.p.v t.a.v t.o.v n.a.v o.a np tzn tj m.in m.in tzw zob por npr oz t.i
    cfr डॉ प्रो रु
    bkz örn yani msl např tzv apod π.χ δηλ βλ dvs t.ex bl.a f.eks zgn prim pribl krş usp
    """
)
"""Words that by their meaning always continue the sentence; never a sentence end."""

NUMBERED = _words(
    """
    fig figs tab tabs eq eqs eqn eqns sec sect secs ch chap chaps no nos nr nrn num vol vols p pp
    art arts ex exs ref refs thm lem def prop cor alg app suppl ed eds para paras pt pts cl ver v
    abb abs kap bd bde s seite ziff vgl cf ca c approx est max min avg n° núm pág págs cap t рис
    табл стр с ст п пп гл т тт см ср д кв вып разд blz bl hfst str godz pkt poz rys rozdz ust sf md
    sy hfdst afb zał şek böl cilt pogl sl obr zv letn čl čís št tč odst kl sp pag stk σελ αρ άρθρ
    """
)
"""Abbreviations that do not end a sentence before a number or a bracket."""

INNER = _words(
    """
    v etc al et resp incl excl u.a u.u i.d.r o.ä usw evtl ggf inkl exkl zzgl u.s.w m.e s.o s.u v.a
    z.t т.к т.д т.п т.н и.о др пр см тыс млн млрд руб коп г гг в вв обл р-н env ej pág aprox ud
    uds vd vds dept corp inc ltd co bros est jr sr a.m p.m a.d b.c esp dept univ assn jan feb mar
    apr jun jul aug sept sep oct nov dec mon tue wed thu fri sat sun km cm mm kg mg hr hrs min
    enz itd itp ipd atd tys zł vb vd yy m.ö m.s r.ż n.e v.chr n.chr κ.λπ κ.ά κ.τ.λ osv mfl
    evt afb blz hfdst dhr mevr afd onderd ang łac godz nast çev str odst cca idr angl izd pogl
    mins sec secs ft in oz lb lbs sig
    """
)
"""Abbreviations that do not end a sentence before a number or a word in lower case."""

ORDINAL_FOLLOWERS = _words(
    """
    januar jänner februar märz april mai juni juli august september oktober november dezember
    jahrhundert jahrhunderts jh jhd jahrtausend jahrtausends klasse auflage stock kapitel januari
    februari maj juni juli augusti
    """
)
"""Words before which a number with a full stop is an ordinal ("19. Jahrhundert")."""

ORDINAL_LEADERS = _words(
    """
    der die das den dem des vom zum zur im beim vollendete vollendeten vollendetem
    """
)
"""Words of German behind which a number with a full stop is an ordinal ("des 50. Lebensjahres").
Not "am": "I am 25." is English."""

OPENERS = _words(
    """
    the a an this that these those it its he she they we you his her their our my in on at for
    from with by to of as if when while after before although however but and or so then there
    here what who why how where which is are was were do does did no yes not i der die das ein
    eine er sie es wir ich im in am auf für mit von bei aber und oder wenn als dieser diese dieses
    le la les un une il elle ils elles nous vous je ce cette ces dans en el los las una unos ella
    ellos este esta estos en por para con pero он она оно они мы вы я это этот эта эти в на с по
    из для но и а если когда как
    """
)
"""Words that start a sentence if they are capitalised after a full stop."""

ORDINARY = _words(
    """
    accent acres acton ago ah aims alike all aloud ames anarchy andes antioch applause arcade
    arden arrows ashore aye backs bail baird bank barn barron bays bed bee bela bets bien biting
    black bleak bled bold bombardment bombed bond book bra brad broad brock buchanan bull bump
    burr bus cain call can cancer cao carpenter carr casey century chaos chase chases cheerful
    chest chip chores civilization clarke cliff climb closes coal code cold cole condo consume
    contra cooler cow cox crafts cranes crazy crowley curt dahl day decks den depot deserved
    divide drunk dull dumb dusk dvds elect encyclopedia enter enters equal extant ezekiel faded
    fairs fiat fish fist flag flip flourish found fray free galaxies gall galleries gibson
    gracefully grenada guthrie hacked hall hand hard harp hay hen hers highs hilt hokkaido
    holidays horse how hugh hughes hum human hunts idaho invaders iowa jeff johan john johns
    joke just katharine kerry knees lack lars larsen laughter lazy lead leaps leg lew lids life
    limp liter lock loire low lowell luck luz mankind mann marsh mart martini mason mclean mess
    metro midi mills monaco mum ness nonsense nope nor oceania oils ok okay onwards parade park
    payne penny pens per pick poland port rand rash raw rees rehab reporter reports rest
    resurrection revisited rich rites robb robbins roll rounds row ruin ruined saigon salman
    sanchez sand sane saw scandal scattering sent series shade shan shrubs shrug sick sinks
    sleep so south southport splash spruce stake stars stein stew stock story sulawesi sum
    swallowed tables tale talent tasks taxis thanks thinner threads tonga toulon tread trench
    trieste tuck untouched utah vain vase vibe victories vodka walk wall ware wave weave week
    west wheat wheel whites wiley will win wings woods wool works wrath yard yep york
    """
)
"""Words that the model takes for abbreviations, as those of law books, and that hardly are one."""
