"""Golden lines: own text with the token ids and vectors that every implementation must reproduce.

  python3 golden.py --model FILE --out golden.jsonl      writes the golden file
  python3 golden.py --model FILE --lines TEXT            prints the ids of each line of TEXT as JSON
"""

import argparse
import json

import numpy as np

import model_file
from tokenizer import Tokenizer

COUNT, VECTORS = 500, 50

HAND = """
The deploy failed because the token had expired.
部署失败，因为令牌已经过期。
資料庫連線逾時，請稍後再試。
数据库连接超时，请稍后再试。
Why did we choose SQLite over PostgreSQL?
我们为什么选 SQLite 而不选 PostgreSQL？
getUserById(userId: string): Promise<User>
HTTPServerConfig.fromEnv() in src/server/http_server.rs
snake_case_name SCREAMING_SNAKE_CASE kebab-case-name PascalCaseName camelCaseName
APIs, URLs, VMs, PRs and CVEs
OAuth2 + OpenID; IPv6, IPv4, UTF-8, utf8, k8s, i18n, x86_64, arm64, sha256, base64
v1.2.3-rc.4+build.567 0.0.1 2026-11-29T23:05:01Z 1,234,567.89 007 1999 2024 12345678901234567890
C++ C# F# .NET Node.js $HOME $100 50% a&b @alice #general
ＦＵＬＬＷＩＤＴＨ　ｔｅｘｔ　１２３，全角标点！
ﬁnal oﬃce eﬀect ﬂow
café cafe\u0301 naïve Zürich Straße Ærøskøbing Łódź İstanbul ıssız Đorđe
① ② ⑩ ½ ¼ x² H₂O ㎏ ㎞ ™ ℃ Ⅳ ⅷ
𝐁𝐨𝐥𝐝 𝒔𝒄𝒓𝒊𝒑𝒕 𝔣𝔯𝔞𝔨𝔱𝔲𝔯 𝟘𝟙𝟚
zero\u200bwidth soft\u00adhyphen join\u200der \ufeffbom
emoji 🎉🚀 family 👨‍👩‍👧‍👦 flag 🇨🇳 heart ❤️
カタカナ ひらがな 漢字 한국어 русский Ελληνικά العربية עברית ไทย हिन्दी
Кириллица mixed with Latin и 中文
々〆〇 人々 二〇二六年
豈更車賈 ⼀⼁⼂ ⺟ 侮
𠮷野家 𪚥 㐀 㐁 䶿
龘靐齉爩 鱻麤
\x00\x01\x02 control \x1b[31mred\x1b[0m \x7f
tab\tseparated\tvalues
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis
qwrtpsdfghjklzxcvbnm xzqj vvvv
的的的的的的的的的的的的的的的的的的的的的的的的的的的的的的
!!! ??? ... --- ___ /// \\\\ || ~~ `` "" ''
。，、；：？！…—《》【】（）“”‘’

a
A
Z9
9Z
我
+
é
ß
\u0301
/usr/local/lib/python3.11/site-packages/numpy/__init__.py
C:\\Users\\Public\\Documents\\report-final(2).docx
https://example.com/docs/zh-CN/getting-started?page=2&sort=desc#install
SELECT id, name FROM users WHERE created_at > '2024-01-01' ORDER BY id DESC LIMIT 10;
fn main() -> Result<(), Box<dyn std::error::Error>> { println!("你好, {}", name); Ok(()) }
def parse_qs(self, qs: str, *, keep_blank_values=False) -> dict[str, list[str]]:
const { data, isLoading } = useQuery(["todos", page], () => fetchTodos(page));
git rebase -i HEAD~3 && git push --force-with-lease origin feature/login-flow
docker run --rm -it -p 8080:80 -v "$(pwd)":/app nginx:1.25-alpine
npm ERR! code ERESOLVE: unable to resolve dependency tree
thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 7'
java.lang.NullPointerException at com.example.UserService.findAll(UserService.java:42)
ECONNREFUSED 127.0.0.1:5432
XMLHttpRequest parseJSONString toISOString iOSApp eBay McDonald O'Reilly don't
iPhone14Pro Max, GPT4o-mini, H264/H265, MP3, 3D, 4K, 5G, Wi-Fi6
著名的乾坤，後來的皇后；髮型与发展；臺灣台灣；裡裏里；麵面；隻只
軟體開發與資訊安全；程式設計師在網路上討論伺服器的記憶體
软件开发与信息安全；程序员在网络上讨论服务器的内存
憂鬱的烏龜，龍飛鳳舞
今天是2026年11月29日，星期日，气温-3.5℃。
第3章：如何配置HTTP/2与TLS1.3？
把A改成B，再把B改成C
用户ID是user_id，订单号是ORD20240001
小明说：“明天8:30在3号会议室开会。”
README.md里写了pip install的步骤
我喜欢吃苹果，但不喜欢用Apple的产品
南京市长江大桥 研究生命起源 乒乓球拍卖完了
""".split("\n")[1:-1]

SUBJECTS = [
    ("the cache", "缓存"), ("our billing service", "计费服务"), ("Alice", "小红"), ("the search index", "搜索索引"),
    ("parseConfig()", "parseConfig()"), ("the nightly job", "夜间任务"), ("the README", "说明文档"), ("user_repo.py", "user_repo.py"),
    ("the mobile app", "手机应用"), ("my grandmother", "我奶奶"), ("a retry loop", "重试循环"), ("the API gateway", "API 网关"),
]
VERBS = [
    ("was rewritten in Rust", "用 Rust 重写了"), ("failed with exit code {n}", "以退出码 {n} 失败"), ("needs more memory", "需要更多内存"),
    ("moved to Berlin in {y}", "在{y}年搬到了柏林"), ("returns HTTP {n}", "返回 HTTP {n}"), ("is deprecated since v{a}.{b}", "从 v{a}.{b} 起弃用"),
    ("likes hiking and jazz", "喜欢徒步和爵士乐"), ("took {n} ms instead of {b} ms", "耗时 {n} 毫秒而不是 {b} 毫秒"),
]
TAILS = [
    ("because the disk was full", "因为磁盘满了"), ("after the MaxRetryCount change", "在修改 MaxRetryCount 之后"),
    ("according to PR #{n}", "见 PR #{n}"), ("and nobody noticed", "而且没有人发现"), ("see docs/{b}-design.md", "参见 docs/{b}-design.md"),
]


def lines():
    """COUNT distinct lines: the hand-written ones, then sentences from the parts above."""
    out = [h.encode().decode("unicode_escape").encode("latin-1").decode() if "\\x" in h or "\\u" in h else h for h in HAND]
    out = list(dict.fromkeys(out))
    rng = np.random.default_rng(7)
    traditional = str.maketrans("缓务红索应应网关说档夜间复试环认为磁盘满数后见没现参", "緩務紅索應應網關說檔夜間複試環認為磁盤滿數後見沒現參")
    while len(out) < COUNT:
        s, v, t = SUBJECTS[rng.integers(12)], VERBS[rng.integers(8)], TAILS[rng.integers(5)]
        k = int(rng.integers(4))
        numbers = dict(n=int(rng.integers(1, 60000)), y=int(rng.integers(1880, 2045)), a=int(rng.integers(12)), b=int(rng.integers(300)))
        if k == 0:
            text = f"{s[0]} {v[0]} {t[0]}."
        elif k == 1:
            text = f"{s[1]}{v[1]}，{t[1]}。"
        elif k == 2:
            text = f"{s[1]} {v[0]}，{t[1]}"
        else:
            text = f"{s[1]}{v[1]}，{t[1]}。".translate(traditional)
        text = text.format(**numbers)
        if text not in out:
            out.append(text)
    return out


def vector(ids, table):
    """The text vector: normalised sum of sqrt(term frequency) x row; all zero for no tokens."""
    unique, counts = np.unique(np.array(ids, dtype=np.int64), return_counts=True)
    total = (np.sqrt(counts)[:, None] * table[unique].astype(np.float64)).sum(0)
    norm = np.linalg.norm(total)
    return total / norm if norm > 0 else total


def records(tokenizer, table):
    """Yields the lines of golden.jsonl."""
    for i, text in enumerate(lines()):
        ids = tokenizer.encode(text)
        row = {"text": text, "ids": ids}
        if i < VECTORS:
            row["vector"] = [round(float(x), 6) for x in vector(ids, table)]
        yield json.dumps(row, ensure_ascii=False) + "\n"


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--model", required=True)
    ask.add_argument("--out")
    ask.add_argument("--lines")
    args = ask.parse_args()
    pieces, fold, rows, scale, _ = model_file.read(args.model)
    tokenizer = Tokenizer(pieces, fold)
    if args.lines:
        with open(args.lines, encoding="utf-8", newline="\n") as source:
            for line in source:
                print(json.dumps(tokenizer.encode(line.rstrip("\n"))))
        return
    with open(args.out, "w", encoding="utf-8") as out:
        out.writelines(records(tokenizer, model_file.table(rows, scale)))


if __name__ == "__main__":
    main()
