"""One page about bees in many languages: (language, script) → text, translated for the tests."""

PAGES = {
    ("de", "Latin"): "Die Imkerei. Im Frühling legt die Königin bis zu zweitausend Eier am Tag. "
    "Die Drohnen werden im Spätsommer vertrieben. Der Honig wird im Juli geschleudert.",
    ("es", "Latin"): "La apicultura. En primavera la reina pone hasta dos mil huevos al día. Los "
    "zánganos son expulsados a finales del verano. La miel se cosecha en julio.",
    ("fr", "Latin"): "L'apiculture. Au printemps, la reine pond jusqu'à deux mille œufs par jour. "
    "Les faux bourdons sont chassés à la fin de l'été. Le miel est récolté en juillet.",
    ("it", "Latin"): "Apicoltura. In primavera la regina depone fino a duemila uova al giorno. I "
    "fuchi sono cacciati alla fine dell'estate. Il miele si raccoglie nel mese di luglio.",
    ("pt", "Latin"): "Apicultura. Na primavera a rainha põe até dois mil ovos por dia. Os zangões "
    "são expulsos no fim do verão. O mel é colhido em julho pela família.",
    ("nl", "Latin"): "Bijenteelt. In de lente legt de koningin tot tweeduizend eieren per dag. De "
    "darren worden aan het eind van de zomer verdreven. De honing wordt in juli geslingerd.",
    ("sv", "Latin"): "Biodling. På våren lägger drottningen upp till två tusen ägg om dagen. "
    "Drönarna drivs bort i slutet av sommaren. Honungen slungas i juli och det är gott.",
    ("fi", "Latin"): "Mehiläishoito. Keväällä kuningatar munii jopa kaksi tuhatta munaa päivässä. "
    "Kuhnurit karkotetaan kesän lopulla. Hunaja kerätään heinäkuussa ja se säilyy hyvin.",
    ("pl", "Latin"): "Pszczelarstwo. Wiosną królowa składa do dwóch tysięcy jaj dziennie. Trutnie "
    "są wypędzane pod koniec lata. Miód zbiera się w lipcu.",
    ("cs", "Latin"): "Včelařství. Na jaře klade matka až dva tisíce vajíček denně. Trubci jsou na "
    "konci léta vyhnáni. Med se vytáčí v červenci.",
    ("ro", "Latin"): "Apicultura. Primăvara regina depune până la două mii de ouă pe zi. Trântorii "
    "sunt alungați la sfârșitul verii. Mierea se recoltează în iulie.",
    ("hu", "Latin"): "Méhészet. Tavasszal a királynő naponta akár kétezer petét is rak. A heréket "
    "a nyár végén elűzik. A mézet júliusban pergetik.",
    ("tr", "Latin"): "Arıcılık. İlkbaharda kraliçe arı günde iki bin yumurta bırakır. Erkek arılar "
    "yaz sonunda kovulur. Bal temmuz ayında alınır ve çok iyi saklanır.",
    ("vi", "Latin"): "Nghề nuôi ong. Vào mùa xuân ong chúa đẻ đến hai nghìn trứng mỗi ngày. Ong "
    "đực bị đuổi vào cuối mùa hè. Mật ong được thu hoạch vào tháng bảy.",
    ("id", "Latin"): "Peternakan lebah. Pada musim semi sang ratu bertelur hingga dua ribu butir "
    "dalam sehari. Lebah jantan diusir pada akhir musim panas dan madu yang dipanen dari sarang "
    "itu tidak dijual.",
    ("ru", "Cyrillic"): "Пчеловодство. Весной матка откладывает до двух тысяч яиц в день. Трутней "
    "изгоняют в конце лета. Мёд качают в июле.",
    ("el", "Greek"): "Μελισσοκομία. Την άνοιξη η βασίλισσα γεννά δύο χιλιάδες αυγά την ημέρα. Οι "
    "κηφήνες διώχνονται στο τέλος του καλοκαιριού. Το μέλι βγαίνει τον Ιούλιο.",
    ("he", "Hebrew"): "גידול דבורים. באביב המלכה מטילה עד אלפיים ביצים ביום. הזכרים מגורשים בסוף "
    "הקיץ. את הדבש רודים ביולי.",
    ("ar", "Arabic"): "تربية النحل. في الربيع تضع الملكة ألفي بيضة في اليوم. تُطرد الذكور في نهاية "
    "الصيف. يُجمع العسل في يوليو.",
    ("hi", "Devanagari"): "मधुमक्खी पालन। वसंत में रानी एक दिन में दो हज़ार अंडे देती है। नर गर्मियों के अंत में "
    "निकाल दिए जाते हैं। शहद जुलाई में निकाला जाता है।",
    ("th", "Thai"): "การเลี้ยงผึ้ง ในฤดูใบไม้ผลินางพญาวางไข่ได้ถึงสองพันฟองต่อวัน ผึ้งตัวผู้ถูกขับไล่ในปลายฤดูร้อน "
    "น้ำผึ้งเก็บในเดือนกรกฎาคม",
    ("zh", "Han"): "养蜂。春天，蜂王每天最多产两千枚卵。雄蜂在夏末被赶出蜂巢。蜂蜜在七月收获。",
    ("ja", "Kana"): "養蜂。春になると女王バチは一日におよそ二千個のたまごを産みます。"
    "オスは夏の終わりに追い出されます。はちみつは七月にとります。",
    ("ko", "Hangul"): "양봉. 봄이 되면 여왕벌은 하루에 이천 개의 알을 낳는다. "
    "수벌은 여름이 끝날 때 쫓겨난다. 꿀은 칠월에 거둔다.",
    ("am", "other"): "ንብ ማነብ። በጸደይ ወቅት ንግሥቲቱ በቀን እስከ ሁለት ሺህ እንቁላሎች ትጥላለች። ማር በሐምሌ ይቆረጣል።",
}
"""The last one is in a script that no model of Milepost reads."""

QUESTIONS = ("How many eggs does the queen lay in a day?", "When are the drones driven out?")
