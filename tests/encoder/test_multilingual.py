"""The multilingual model in its package: other languages, and questions in one about another."""

from collections.abc import Iterator

import numpy as np
import pytest

import milepost
from milepost.encoder.engine.folder import MULTILINGUAL, packaged
from milepost.types import Document

if packaged(MULTILINGUAL) is None:
    pytest.skip("needs packages/multilingual", allow_module_level=True)

PAGES = {
    "de": "Die Imkerei. Im Frühling legt die Königin bis zu zweitausend Eier am Tag. Die Drohnen "
    "werden im Spätsommer vertrieben. Honig wird im Juli geschleudert.",
    "ja": "養蜂。春になると女王蜂は一日に二千個の卵を産みます。雄蜂は夏の終わりに追い出されます。"
    "蜂蜜は七月に採ります。",
    "ru": "Пчеловодство. Весной матка откладывает до двух тысяч яиц в день. Трутней изгоняют в "
    "конце лета. Мёд качают в июле.",
    "ar": "تربية النحل. في الربيع تضع الملكة ألفي بيضة في اليوم. تُطرد الذكور في نهاية الصيف. "
    "يُجمع العسل في يوليو.",
    "hi": "मधुमक्खी पालन। वसंत में रानी एक दिन में दो हज़ार अंडे देती है। नर गर्मियों के अंत में निकाल "
    "दिए जाते हैं। शहद जुलाई में निकाला जाता है।",
    "el": "Μελισσοκομία. Την άνοιξη η βασίλισσα γεννά δύο χιλιάδες αυγά την ημέρα. Οι κηφήνες "
    "διώχνονται στο τέλος του καλοκαιριού. Το μέλι βγαίνει τον Ιούλιο.",
}
EGGS = {
    "en": "How many eggs does the queen lay in a day?",
    "de": "Wie viele Eier legt die Königin am Tag?",
    "ja": "女王蜂は一日に何個の卵を産みますか？",
    "es": "¿Cuántos huevos pone la reina al día?",
}


@pytest.fixture(scope="module")
def index() -> Iterator[milepost.Index]:
    with milepost.open(model=MULTILINGUAL) as made:
        made.add([Document(name, text) for name, text in PAGES.items()])
        yield made


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("asked", EGGS)
def test_a_question_finds_the_sentence_in_another_language(
    index: milepost.Index, page: str, asked: str
) -> None:
    found = index.search(EGGS[asked], k=1, documents=[page], budget="60c")
    text = PAGES[page][found[0].start : found[0].end]
    assert any(
        sign in text for sign in ("zweitausend", "二千", "двух тысяч", "ألفي", "दो हज़ार", "δύο")
    )


def test_vectors_of_translations_are_near(index: milepost.Index) -> None:
    marks = {name: index.model.encode(text) for name, text in PAGES.items()}
    eggs = np.array([each.vectors[1] for each in marks.values()])
    drones = np.array([each.vectors[2] for each in marks.values()])
    same, other = eggs @ eggs.T, eggs @ drones.T
    assert same[~np.eye(len(same), dtype=bool)].mean() > other.diagonal().mean() + 0.1
