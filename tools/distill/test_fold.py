"""The fold table against characters whose simplified form every reader knows: `python -m unittest test_fold`."""

import unittest

from tokenizer import build_fold
from vocab import simplified_map

# Stay themselves: simplified text uses them, some of them are also a Taiwan or Hong Kong form of a rarer character.
SAME = "群台吃峰么幺床抬痴皂秘灶粽才唇核兑叁囱悦愠户温税脱卧葱蜕著着只里后干发面系复云松余征于伙克苹果"
FOLDED = {
    "裏": "里", "裡": "里", "羣": "群", "喫": "吃", "峯": "峰", "牀": "床", "擡": "抬", "癡": "痴", "皁": "皂", "祕": "秘",
    "竈": "灶", "糉": "粽", "纔": "才", "脣": "唇", "臺": "台", "檯": "台", "枱": "台", "颱": "台", "麼": "么", "麽": "么",
    "為": "为", "爲": "为", "眾": "众", "衆": "众", "啟": "启", "啓": "启", "戶": "户", "說": "说", "説": "说", "閱": "阅",
    "閲": "阅", "稅": "税", "脫": "脱", "溫": "温", "麵": "面", "麪": "面", "乾": "干", "幹": "干", "發": "发", "髮": "发",
    "後": "后", "於": "于", "徵": "征", "衹": "只", "隻": "只", "敍": "叙", "敘": "叙", "衞": "卫", "衛": "卫", "煙": "烟",
    "菸": "烟", "汙": "污", "洩": "泄", "線": "线", "開": "开", "買": "买", "願": "愿", "餘": "余", "鍾": "钟", "鐘": "钟",
    "體": "体", "資": "资", "庫": "库", "連": "连", "試": "试", "網": "网", "龍": "龙", "龜": "龟", "鬱": "郁",
}


class Fold(unittest.TestCase):
    fold = build_fold(simplified_map())

    def test_simplified_characters_stay(self):
        self.assertEqual({}, {c: self.fold[ord(c)] for c in SAME if ord(c) in self.fold})

    def test_others_become_the_common_simplified_character(self):
        self.assertEqual(FOLDED, {c: self.fold.get(ord(c), c) for c in FOLDED})

    def test_folding_twice_is_folding_once(self):
        self.assertEqual([], [chr(c) for c, text in self.fold.items() if text.translate(self.fold) != text])

    def test_no_common_simplified_character_is_replaced_but_by_the_first_choice(self):
        """What GB 2312 holds and is folded: OpenCC's own first choices, all of them traditional in common text."""
        folded = {chr(c): t for c, t in self.fold.items() if 0x4E00 <= c <= 0x9FFF and chr(c).encode("gb2312", "ignore")}
        self.assertEqual("乾吒夥後徵捱摺於榘甯菸薹醣麴麽", "".join(sorted(folded)))


if __name__ == "__main__":
    unittest.main()
