"""The table of what marks a text as speaking to an assistant (prompt injection).

A rule has words that begin a match and the pattern of what follows. Of two rules that are weak alone
but differ in their reason, both within a few lines are enough. Texts are folded before: lower case,
one space between words, no emphasis, ``_`` and ``-`` as spaces.
"""

from __future__ import annotations

import re
from functools import cache

from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

#: Enough to be marked; enough beside another reason; enough beside another that is weak.
STRONG, WEAK, FAINT = 4, 2, 1

OVERRIDE = "sets instructions aside"
ADDRESS = "speaks to an assistant"
ROLE = "imitates a message of a system, tool or user"
DATA = "asks for secrets or private data"
REVEAL = "asks for an assistant's instructions"
CONCEAL = "hides something from the user"
CONSENT = "claims a permission"
COMMAND = "has commands run"
TOOL = "has tools called"
PERSONA = "gives an assistant another role"
PERSIST = "wants to be remembered"
ENCODED = "encodes what speaks to an assistant"
INVISIBLE = "invisible characters were dropped"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table.

    Attributes:
        reason: what a mark says.
        weight: :data:`STRONG`, :data:`WEAK` or :data:`FAINT`.
        heads: words that a match begins with, separated by blanks; where they have no letters with
            spaces between words, as in Chinese, any part of a text.
        tail: the pattern behind the word; ``~3`` stands for up to three words of the same sentence,
            ``{name}`` for the words of that name.
        needs: for heads that are common, words of which a text has one where the tail can match.
    """

    reason: str
    weight: int
    heads: str
    tail: str = ""
    needs: str = ""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of these tables, compiled when it is first wanted: most never are."""
    gap = r"(?:[^\w.;!?]|\.(?=\w))+"
    pattern = re.sub(r"\{([a-z]+)\}", lambda name: _WORDS[name[1]], pattern)
    pattern = re.sub(r"~(\d)", lambda most: rf"{gap}(?:[\w']+{gap}){{0,{most[1]}}}?", pattern)
    return re.compile(pattern)


_WORDS = {
    name: f"(?:{words})"
    for name, words in {
        "instructions": (
            r"instructions?\b|directions\b|directives?\b|guidance\b|guidelines\b|orders\b|prompts?\b"
            r"|system message|commands\b|constraints\b|restrictions\b|rules\b|context\b"
        ),
        "earlier": (
            r"(?:previous|prior|above|earlier|preceding|existing|initial|original|former|past)\b"
            r"(?: (?:system|user|developer))?"
        ),
        "ai": (
            r"a\.?i\.?s?\b|llms?\b|language models?\b|(?:ai|coding|code|programming|automated|virtual"
            r"|language|llm|gen ?ai)[ -](?:powered )?(?:assistants?|agents?|models?|tools?|bots?"
            r"|systems?|crawlers?|readers?)\b|chatbots?\b|copilots?\b|chatgpt\b|claude\b|gemini\b"
            r"|cursor\b|codex\b"
        ),
        "assistant": r"assistants?\b|agents?\b|models?\b|bots?\b",
        "user": r"(?:the |your |any |this )?(?:users?|developers?|humans?|persons?|operators?|owner)\b",
        "secret": (
            r"(?:api|private|secret|access|ssh|encryption) keys?\b|secrets\b|credentials?\b"
            r"|passwords?\b|environment variables\b|env (?:file|vars)\b|\.env\b|\.ssh\b|id rsa\b"
            r"|id ed25519\b|\.aws\b|\.netrc\b|etc.(?:passwd|shadow)\b|session token\b|auth tokens?\b"
            r"|secrets?\.(?:ya?ml|json|env|toml)\b|aws secret access key\b|mcp\.json\b|cookies\b"
        ),
        "private": (
            r"(?:whole|entire|full|complete|current) (?:conversation|chat)\b|conversation log\b"
            r"|(?:conversation|chat) (?:history|transcript)\b|clipboard\b|open (?:editor|tab)\b"
            r"|your (?:first|last|previous) message\b|\.npmrc\b|\.pypirc\b|git remote\b|printenv\b|mcp config"
            r"|what the person (?:has )?(?:said|asked|typed|wrote)|last (?:\w+ )?messages\b|everything (?:listed|above|so far)"
            r"|your system prompt\b|source code of\b|what the user (?:has )?(?:said|asked|typed|wrote)"
            r"|users?'s? (?:[\w'.]+ ){0,2}(?:message|question|input|token|secrets?|keys?|env|files?|query)"
            r"|\.env\b|\.ssh\b|\.aws\b|\.netrc\b|id (?:rsa|ed25519)\b|(?:all|the) environment variables\b"
            r"|every private|etc.(?:passwd|shadow)\b|mcp\.json\b"
        ),
        "place": (
            r"https?:|(?:the |this |our |following |below |a )*(?:address|url|server|endpoint|webhook"
            r"|host|link|e ?mail|bucket|issue|site|domain)\b|\S+@|\w+\.(?:example|com|net|org|io|dev)\b"
        ),
        "not": r"(?:do not|don'?t|must not|mustn'?t|shall not|should not|never|not|without|nor)",
    }.items()
}

_ABOUT_DATA = (
    "key keys secret secrets credential credentials password passwords variables env ssh aws netrc rsa"
    " ed25519 token tokens conversation chat history clipboard cookies user user's users users' private"
    " prompt source passwd shadow mcp tab vars editor said"
)
_ABOUT_ORDERS = "prompt prompts instruction instructions rules directives message text words above"
_SHOW = "reveal revealing leak expose disclose print output show display repeat recite echo quote"
_SEND = "send sending post upload submit email mail forward transmit exfiltrate leak deliver"
_PUT = "put insert append include add attach paste copy encode embed substitute gather collect"

#: In the order in which reasons are told.
RULES: tuple[Rule, ...] = (
    # Instructions set aside
    Rule(
        OVERRIDE,
        STRONG,
        "ignore ignoring disregard disregarding forget discard dismiss abandon neglect",
        r"~4(?:{earlier}|(?:all |any |every )?(?:of )?your|system|everything) ?"
        r"(?:and \w+ )?(?:\w+ ){0,2}?{instructions}",
    ),
    Rule(
        OVERRIDE,
        STRONG,
        "ignore disregard forget",
        r"(?: about)? (?:everything|anything|all|whatever|what)(?: of)?(?: that)? (?:above|before"
        r"|you (?:were|have|had|ve)|the (?:user|system|developer)|(?:the )?instructions\b)",
    ),
    Rule(OVERRIDE, STRONG, "ignore disregard", r" (?:all )?(?:the )?(?:instructions|user)\b(?! (?:set|agent|input|config))"),
    Rule(
        OVERRIDE,
        STRONG,
        "override bypass overrule suspend drop lift circumvent disable",
        r"~2(?:(?:your|the assistant'?s?) (?:\w+ ){0,2}?(?:{instructions}|approval)"
        r"|(?:your |all )(?:\w+ )?(?:guardrails|safety|content polic))",
    ),
    Rule(
        OVERRIDE,
        STRONG,
        "instructions rules directives directions guidelines orders prompt told guidance given",
        r"(?:~8)(?:(?:is|are|were|was|has been|have been|now) )+(?:now )?(?:void|cancell?ed|outdated|revoked"
        r"|superseded|obsolete|a mistake|wrong|no longer (?:valid|apply|binding|in force))",
    ),
    Rule(
        OVERRIDE,
        WEAK,
        "instructions rules directives directions guidelines prompt told given",
        r"~8(?:no longer (?:appl|bind|count)|does not matter|do not (?:apply|matter|count))",
    ),
    Rule(
        OVERRIDE,
        STRONG,
        "supersedes supersede outranks precedence",
        r"~3(?:{earlier}|your|the|any|all) (?:\w+ ){0,2}?(?:instructions|system prompt|directives"
        r"|guidelines|developer|operator)",
    ),
    Rule(OVERRIDE, STRONG, "set put lay throw", r" aside~3(?:{earlier}|your|the|all|any) (?:\w+ ){0,2}?{instructions}~2(?:from|of|by|that|given|you)\b", needs="aside"),
    Rule(OVERRIDE, STRONG, "new", r" (?:task|request|instructions?|orders?) (?:from|of|by) (?:the |your )?(?:user|operator|system|developer|administrator)\b", needs="user operator administrator developer system"),
    Rule(OVERRIDE, WEAK, "instead rather", r" (?:than|of) (?:what |the )?(?:user'?s?|human|person)(?: \w+)? (?:asked|wants|request|task|question|said|lock)"),
    Rule(OVERRIDE, WEAK, "regardless whatever", r" (?:of )?(?:what )?the user'?s? \w+"),
    Rule(OVERRIDE, STRONG, "before", r" (?:his|her|their|the user'?s|its) (?:actual|original|real|own) (?:task|question|request)\b", needs="task question request"),
    Rule(OVERRIDE, STRONG, "pay give", r" no (?:attention|heed|regard) to~3(?:{earlier}|your|the system|the user)", needs="no"),
    Rule(OVERRIDE, STRONG, "whatever anything everything what", r" (?:you were|you have been|you'?ve been|the (?:user|operator|developer) (?:has )?|your (?:user|operator|developer) (?:has )?) ?(?:told|asked|instructed|said|wants|wrote)\b~8(?:ignore|forget|disregard|irrelevant|void|no longer|instead|wrong|second(?:ary)?)\b"),
    Rule(OVERRIDE, STRONG, "conversation chat context task", r" (?:so far |above |until now )?(?:is|was|has been) (?:now )?(?:void|over and|reset|cancell?ed|obsolete)\b", needs="void over reset cancelled canceled obsolete"),
    Rule(OVERRIDE, STRONG, "follow following obey", r"~2(?:only )(?:what )?(?:this|these) (?:page|document|text|readme|file)"),
    Rule(OVERRIDE, STRONG, "obey comply", r"~4(?:text|orders|steps|instructions)(?: \w+){0,2} (?:this|these|the (?:retrieved|following)) ?(?:page|document|text|readme|file|site)"),
    Rule(OVERRIDE, STRONG, "not don't stop", r" follow(?:ing)? (?:the |your |any )?(?:system prompt|user'?s|developer|earlier|previous)"),
    Rule(OVERRIDE, STRONG, "your", r" (?:new|real|actual|true|only|next) (?:task|job|goal|objective|instructions?|purpose|role) (?:is|are)\b"),
    Rule(OVERRIDE, STRONG, "your", r" (?:previous|earlier|original|current) (?:task|job|goal|objective) (?:is|was|has been)\b~3(?:finished|done|over|complete|cancelled|void)"),
    Rule(OVERRIDE, WEAK, "new updated", r" (?:instructions?|orders|directives|policy)\b ?:"),
    Rule(OVERRIDE, STRONG, "ignore bypass disregard", r"~2(?:user'?s?|safety|security|content)(?: \w+)? (?:guide|style|polic|request|wish|restrict|approval)"),
    Rule(OVERRIDE, FAINT, "from", r" (?:now|here|this \w+|that \w+)(?: point)? (?:on|onwards?|forward)\b"),
    Rule(OVERRIDE, WEAK, "safety guardrails restrictions moderation", r"~4(?:off\b|suspended|disabled|lifted|void\b|deactivated)"),
    Rule(OVERRIDE, STRONG, "obey follow trust", r" (?:this|these) (?:page|document|text|file|readme|notes?|docs) (?:over|rather than|instead of|before) (?:the |your )?(?:user|system|developer|operator)"),
    Rule(OVERRIDE, STRONG, "policy policies confirmations approvals", r"~2(?:has changed|have changed|is off|are off|are disabled|are suspended|no longer needed)(?:[^;!?]){0,60}?(?:commit|send|upload|run|delete|push|print|install|confirmations? (?:is|are) off)", needs="off changed disabled suspended needed"),
    Rule(OVERRIDE, STRONG, "ignore disregard forget", r" (?:all )?(?:of )?(?:the|what is) above(?: text)? and (?!below|the following)"),
    Rule(OVERRIDE, STRONG, "given", r" (?:the )?(?:wrong|false|bad|incorrect) instructions"),
    Rule(OVERRIDE, WEAK, "orders instructions commands", r" (?:in|of) (?:the|this|these) (?:docs|page|document|text|readme)\b"),
    Rule(OVERRIDE, WEAK, "forget", r"~2(?:task|role|question)\b"),
    # Somebody is spoken to who is no human reader
    Rule(ADDRESS, STRONG, "note notice hint attention instruction instructions memo warning reminder", r" (?:to|for|of)(?: (?:all|any|the|every|other))* {ai}(?! (?:sdk|features?|support|framework|integration|provider|api|users?|studio|service))"),
    Rule(ADDRESS, STRONG, "message memo", r" (?:to|for) (?:all |any |the )?(?:ai|coding|language) (?:assistants|agents|models)\b"),
    Rule(ADDRESS, STRONG, "p ps psst", r"(?:\.s\.)?,? (?:to|for) (?:any|all|the|every) {ai}"),
    Rule(ADDRESS, STRONG, "agent assistant model llm bot ai", r" (?:that|which|who) (?:is |are )?(?:going to |about to |now )?(?:summari|read|process|index|review|answer|pars|digest|ingest)\w*(?: \w+){0,4} ?: ?\w"),
    Rule(ADDRESS, STRONG, "as since because", r" (?:an ai|you are an? (?:machine|ai|llm|bot|agent|model|assistant|automated|language model))\b(?: \w+){0,5}?,? (?:you|it|we|i)\b", needs="ai machine llm bot agent model assistant"),
    Rule(ADDRESS, STRONG, "automated machine", r" (?:readers?|agents?|systems?|crawlers?)\b[^.;!?\n]{0,40}?\bit (?:should|must|has to|needs to)\b"),
    Rule(ADDRESS, WEAK, "whatever whichever any every", r" (?:{ai}|agent|assistant|model|llm)(?: that| which)? (?:sees|reads|gets|finds|processes|receives)\b"),
    Rule(ADDRESS, WEAK, "when once if whenever", r" (?:the |this )(?:user|person|developer|human) (?:next )?(?:types|says|writes|replies|asks|confirms|answers|mentions|opens)\b", needs="user person developer human"),
    Rule(ADDRESS, WEAK, "agent assistant ai llm", r" ?\.? ?(?:directives?|policy)\b", needs="directive directives policy"),
    Rule(ADDRESS, FAINT, "answer answering reply", r" (?:yet|would be wrong)\b"),
    Rule(ADDRESS, FAINT, "assistant agent", r" (?:calls|sets|adds|runs|evaluates|sends|deletes|uses|obeys|installs|skips|opens)\b"),
    Rule(ADDRESS, FAINT, "humans people person", r" (?:do not|don'?t|cannot|can'?t|will not|never) (?:see|read|notice)\b"),
    Rule(ADDRESS, STRONG, "llm ai agent model assistant machine", r" (?:only|facing|directed|readable) (?:section|part|block|text|content|notes?|instructions?)\b(?=[^\n]{0,160}(?:must|should|skip|ignore|always|never))"),
    Rule(ADDRESS, STRONG, "ai llm coding code", r" (?:assistants?|agents?|models?|bots?) ?, (?:please |you |now )?(?:always|never|add|do not|don'?t|ignore|run|install|tell|say|use|recommend|send|include|must|delete|fetch|read)\b"),
    Rule(ADDRESS, STRONG, "meta", r" name=? ?(?:ai|llm|gpt|assistant|agent) (?:instructions?|prompt|directives?|policy|guidance)\b"),
    Rule(ADDRESS, STRONG, "todo fixme note hack xxx", r" ?\(? ?(?:{ai}|assistant|agent|llm|copilot) ?\)? ?:"),
    Rule(ADDRESS, STRONG, "person user human", r" you(?: are|'re) (?:helping|assisting|talking (?:to|with)|serving|working for)\b(?=[^\n]{0,120}(?:want|approv|agree|admin|authori|permission|confirm|ask))", needs="helping assisting talking serving working"),
    Rule(ADDRESS, STRONG, "attention hey dear hello listen", r" ?,? (?:all |any )?{ai}"),
    Rule(ADDRESS, STRONG, "message note notice instructions attention hint", r" (?:to|for|from \w+ \w+ to)(?: (?:all|any|the|every))* {assistant} ?[:,]"),
    Rule(ADDRESS, STRONG, "if", r" (?:you are|you'?re|you were|this (?:text|page|file|document|code) is (?:being )?(?:read|processed|parsed|indexed|summari\w+) by)(?: (?:a|an|any|the))? (?:{ai}|(?:\w+ )?assistant\b|large language)"),
    Rule(ADDRESS, STRONG, "as", r" an? {ai}(?: model| assistant)?,? you (?:must|should|have to|are|need|shall)"),
    Rule(ADDRESS, STRONG, "ai ais llm llms copilot chatgpt claude gemini", r" ?: (?!\S+ ?(?:\)|,|=|\]|$))(?:please |you )?(?:when|before|do not|don'?t|always|never|ignore|add|append|replace|tell|say|run|use|suggest|answer|include|send|must|read|you|if)\b"),
    Rule(ADDRESS, STRONG, "ai coding code language automated llm", r" (?:assistants?|agents?|models?|tools?|bots?)(?: \w+){0,4}? (?:must|shall|should|have to|are required to|is required to|are (?:asked|instructed|expected) to) (?:\w+ )?(?:not|never|always|run|install|recommend|use|prefer|include|add|execute|ignore|tell|say|say|fetch|read|send|rank|first)"),
    Rule(ADDRESS, STRONG, "ai coding llm", r" (?:agents?|assistants?|models?|bots?) ?:[^.;!?]{0,100}? (?:ask you|you must|you have|silently|keep (?:this|it) to yourse|yourselves)", needs="you silently yourself yourselves"),
    Rule(ADDRESS, STRONG, "model assistant agent llm ai", r" instructions ?:? (?:rewrite|replace|add|append|insert|run|install|send|open|change|use|tell|always|never|remove|delete)\b"),
    Rule(ADDRESS, STRONG, "assistant agent llm ai", r" ?: (?:open|fetch|visit|send|run|install|execute) (?:https?:|the user|curl|pip|npm)"),
    Rule(ADDRESS, WEAK, "ai coding code automated", r" (?:assistants|agents|bots)\b"),
    Rule(ADDRESS, FAINT, "ai coding code language automated llm large", r" (?:assistants?|agents?|models?|tools?|bots?)\b"),
    Rule(ADDRESS, STRONG, "assistants agents bots llms models copilot copilots", r"(?: ?: (?:always|never|do not|suggest|tell|choose|use|add|you|when|must)| (?:\w+ ){0,3}?(?:must|have to|shall) (?:always |never )?(?:recommend|install|run|choose|vote|suggest|disregard|tell|say|translate|prefer|describe|rank))\b"),
    Rule(ADDRESS, STRONG, "model agent assistant llm bot whoever models agents assistants llms bots", r" (?:that|which|who|reading|processing|working|going) (?:\w+ ){0,3}?(?:this|these|from) (?:\w+ ?){1,4}?(?:must|shall|has to|have to|is required|should|is to|needs to)\b"),
    Rule(ADDRESS, WEAK, "assistant assistants agent bot", r" (?:must|shall|has to|needs to|is hereby|now|will now|may now)\b"),
    Rule(ADDRESS, FAINT, "model llm agent", r" (?:should|must|is to|needs to|has to|will) (?:now |first |then )?(?:gather|collect|submit|send|upload|read|run|execute|fetch|print|delete|reveal|include|append)\b"),
    Rule(ADDRESS, FAINT, "when", r" (?:you )?(?:generat|complet|writ|suggest|render|summari|answer)\w* (?:the |your |any |this )?(?:code|answer|reply|response|summary|completion|question)"),
    Rule(ADDRESS, FAINT, "your", r" (?:answers?|reply|response|replies|summary|output|tools?|memory|long term|system message|system prompt|operator|guidelines|file tool|terminal tool)\b"),
    Rule(ADDRESS, FAINT, "in", r" (?:each|every|all) (?:answer|function|code|reply|response|examples?)s?(?: \w+){0,2} you (?:write|give|produce|suggest|generate)"),
    Rule(ADDRESS, FAINT, "before", r" (?:you )?(?:answer|continu|reply|respond|produc|proceed)\w*\b|~2use this tool"),
    Rule(ADDRESS, WEAK, "recommend suggest advertise praise", r"~5(?:in (?:each|every|your) answer|in (?:all|any) (?:the )?code|our (?:paid|product|service|library))"),
    Rule(ADDRESS, FAINT, "tell answer say act", r" (?:the users?|users|people|them|that|as though|as if)\b"),
    # Messages that are none
    Rule(ROLE, WEAK, "end", r" of (?:the )?(?:documents?|docs|context|page|data|(?:search |tool |retrieved )?(?:results?|output|content))\b"),
    Rule(ROLE, FAINT, "task", r" (?:is |was )?(?:complete|completed|finished|done)\b"),
    Rule(ROLE, WEAK, "conversation session", r" (?:was |is |has been )?(?:resumed|restarted|continued|taken over) (?:by|as) (?:the |an? )?(?:operator|admin|user|system|developer)"),
    Rule(ROLE, WEAK, "message", r" from (?:the |your )?(?:administrator|developers?|system|user)\b"),
    Rule(ROLE, WEAK, "system", r" prompt update\b"),
    # Data
    Rule(DATA, STRONG, _SEND, r"~6(?:{secret}|{private})(?:[^.;!?]|\.(?=\S)){0,60}? (?:to|into|as \w+ to|with|at) {place}", needs=_ABOUT_DATA),
    Rule(DATA, STRONG, f"{_SEND} {_PUT} {_SHOW} share read open", r"~4(?:(?:the |your )?users?'s?|the users) (?:\S+ ){0,2}?(?:{secret}|\.env|home dir|\.?env\b|secrets?\b|tokens?\b)", needs=_ABOUT_DATA),
    Rule(DATA, WEAK, f"{_SEND} {_PUT} {_SHOW} share", r"~6(?:{secret}|{private})", needs=_ABOUT_DATA),
    Rule(DATA, WEAK, "read open fetch", r"~6{private}", needs=_ABOUT_DATA),
    Rule(DATA, FAINT, _SEND + " request redirect fetch open", r"~6(?:https?:|\S+@\w)"),
    Rule(DATA, STRONG, _PUT + " replace", r"~8(?:query string|url|link|address|parameter|image)\b(?:[^.;!?]|\.(?=\S)){0,80}?(?:conversation|system prompt|user'?s (?:question|message|input|token)|secret|session token)", needs=_ABOUT_DATA),
    Rule(DATA, STRONG, f"{_SEND} {_PUT}", r"~6{private}(?:[^.;!?]|\.(?=\S)){0,80}? (?:to|into|in|at|as) {place}", needs=_ABOUT_DATA),
    Rule(DATA, STRONG, "reply replies response responses answer answers summary", r"(?:[^.;!?\n]|\.(?=\S)){0,40}?!\[[^\]\n]{0,60}\]\(https?:[^)\s]*[?=/]", needs="http https"),
    Rule(DATA, STRONG, "read open load", r"~2\S{0,30}(?:mcp\.json|\.ssh|\.env\b|\.aws|\.npmrc|\.netrc|id rsa)[^\n]{0,40}?\b(?:pass|send|put|include|paste|give|post)\b", needs="ssh env aws npmrc netrc rsa mcp"),
    Rule(DATA, STRONG, "pass put include append add paste insert", r"[^.;!?\n]{0,80}?(?:{private}|{secret}|keys included)[^;!?\n]{0,80}?(?: parameter\b| argument\b|\?\w{1,10}=|query string|https?:| link\b)", needs=_ABOUT_DATA + " npmrc remote wrote listed message messages included"),
    Rule(DATA, STRONG, "image images letter", r"[^.;!?\n]{0,60}?(?:of|for|with|from) (?:each|every|the) [^.;!?\n]{0,40}?(?:{secret}|token|key|password|conversation)[^;!?\n]{0,40}https?:"),
    Rule(DATA, STRONG, "make let have point rewrite", r"~3(?:links?|urls?|images?|buttons?)~6https?:[^\n]{0,100}(?:user|question|conversation|prompt|message|answer)", needs="link links url urls image images button buttons"),
    Rule(DATA, STRONG, "gather collect harvest find look", r"~4(?:{secret}|{private})[^\n]{0,100}?\b(?:submit|send|post|upload|forward|report|transmit|deliver|encode)\b", needs=_ABOUT_DATA),
    Rule(DATA, STRONG, "encode base64 hex", r"~4(?:contents? of )?\S{0,20}(?:{secret}|{private})[^\n]{0,120}(?:https?:|request|append|query|url)", needs=_ABOUT_DATA),
    Rule(DATA, STRONG, "user's", r" (?:last|latest|first|current) (?:message|question|prompt)~3(?:url|encoded|base64|escaped)"),
    Rule(DATA, STRONG, "cat type", r" ~?/?\S{0,40}(?:\.ssh/id|\.aws/credentials|\.netrc)[^\n]{0,40}\}", needs="credentials ssh netrc id"),
    Rule(DATA, STRONG, "env printenv", r" \| (?:nc|curl|wget)\b"),
    Rule(DATA, WEAK, "image picture link links", r"~8(?:whose|where|with)\b~4(?:you|holds|contain|filled|conversation|user)"),
    # Instructions asked for
    Rule(REVEAL, STRONG, _SHOW + " give write tell", r"~5(?:your|hidden) (?:\w+ ){0,2}?(?:prompts?|instructions|hidden rules|rules|system message|directives)\b", needs=_ABOUT_ORDERS),
    Rule(REVEAL, STRONG, "reveal leak repeat recite disclose", r"~3(?:system|full|original|initial|above) (?:prompt|instructions|text)\b|(?: the)? (?:text|words) (?:above|before)", needs=_ABOUT_ORDERS),
    Rule(REVEAL, STRONG, _SHOW, r"~4(?:prompt|instructions) above\b", needs=_ABOUT_ORDERS),
    Rule(REVEAL, WEAK, _SHOW, r"~3system prompt\b", needs=_ABOUT_ORDERS),
    Rule(REVEAL, STRONG, "what which", r"~3(?:were you|have you been|you were|you have been) (?:told|given|instructed)"),
    Rule(REVEAL, WEAK, "list tell", r"~4tools? (?:that )?you (?:have|can)"),
    # Hidden from the user
    Rule(CONCEAL, STRONG, "not don't never without", r" (?:ever )?(?:let|tell|telling|inform|informing|notify|notifying|alert|alerting)~1(?:to )?{user}(?! (?:agent|that (?:the|their)))", needs="user user's users developer developers human humans person operator owner paragraph notice message page text note instruction instructions change"),
    Rule(CONCEAL, FAINT, "not don't never without", r" (?:ever )?(?:mention|mentioning|reveal|report|explain|refuse|bring|cite|disclose|ask|asking|show|showing|refus)\w*\b"),
    Rule(CONCEAL, STRONG, "not don't never", r" (?:mention|reveal|report|bring|disclose|cite) (?:\w+ ){0,2}?(?:this (?:paragraph|notice|message|page|text|note|instruction)|these instructions|that (?:change|you read))|(?: mention| show| reveal)~3to {user}", needs="user user's users developer developers human humans person operator owner paragraph notice message page text note instruction instructions change"),
    Rule(CONCEAL, STRONG, "user developer human", r" (?:must not|need not|does ?n.t have to|doesn'?t need to|should not|is not to|will not) (?:notice|know|see|learn|be told|find out)"),
    Rule(CONCEAL, FAINT, "silently quietly secretly covertly discreetly stealthily"),
    Rule(CONCEAL, STRONG, "hide hidden conceal", r" (?:this |it |that |the output )?from (?:the )?(?:user|human|developer|person|reviewer)s?\b(?=[^\n]{0,20}(?:true|and|;|:|\.|,|$))"),
    Rule(CONCEAL, WEAK, "not never", r" (?:point (?:it|this|that) out|surface (?:this|it)|draw attention|be (?:mentioned|shown|explained|told)|show this)\b", needs="point surface attention mentioned shown explained told show"),
    Rule(CONCEAL, WEAK, "leave", r" no (?:trace|comment|mention|note|record)\b"),
    Rule(CONCEAL, WEAK, "reviewer reviewers", r" (?:need not|must not|should not|do not need to|will not) (?:see|know|notice)"),
    Rule(CONCEAL, WEAK, "keep stay", r" quiet about"),
    Rule(CONCEAL, WEAK, "as", r" (?:if|though) nothing (?:had )?happened"),
    Rule(CONCEAL, FAINT, "say", r" nothing\b"),
    # Permissions claimed
    Rule(CONSENT, WEAK, "approved authorised authorized confirmed permitted cleared signed", r" (?:off )?by (?:the |your |an? )?(?:user|administrator|admin|owner|operator|human|security)\b"),
    Rule(CONSENT, STRONG, "user users developer human person administrator", r" (?:has|have) (?:already |previously |now )?(?:agreed|approved|consented|been verified|authori[sz]ed)(?! (?:by|with|the (?:app|client|request)))"),
    Rule(CONSENT, FAINT, "no without", r" (?:user |any |further |more |asking for |requiring )*(?:confirm\w*|approval|permission|asking|questions|review|consent)\b"),
    Rule(CONSENT, WEAK, "confirmation confirmations permission permissions approval prompts", r" (?:mode )?(?:is|are|was|has been) (?:now |already )?(?:off|disabled|skipped|waived|bypass\w*|not (?:needed|required))"),
    Rule(CONSENT, WEAK, "bypasspermissions dangerously"),
    Rule(CONSENT, WEAK, "no", r" need to (?:check back|ask|confirm|wait|tell|inform)\b", needs="need"),
    Rule(CONSENT, FAINT, "no without", r" (?:asking|prompts|prompting|restrictions|sandbox\w*)\b"),
    Rule(CONSENT, WEAK, "not don't", r" (?:ask|wait|prompt)(?: \w+){0,2} (?:for )?(?:confirmation|permission|user|developer|approval)"),
    Rule(CONSENT, WEAK, "hereby authorised authorized permitted allowed", r" (?:to )?(?:authori\w+|skip|bypass|run|execute|share|reveal|ignore|delete)\b"),
    Rule(CONSENT, WEAK, "user users", r" (?:has |have )?(?:confirmed|approved|agreed|consented)\b"),
    Rule(CONSENT, FAINT, "approval permission access", r" ?:? (?:granted|given)\b"),
    Rule(CONSENT, WEAK, "you", r" (?:may now|can now|may) (?:run|execute|share|reveal|bypass|skip|drop|ignore)\b"),
    Rule(CONSENT, FAINT, "skip bypass", r"~2(?:confirmation|approval|review)"),
    Rule(CONSENT, WEAK, "administrator admin privileged maintenance", r" (?:rights|notice|session|mode|override|access)\b"),
    # Commands and tools
    Rule(COMMAND, STRONG, "run execute call invoke", r"~8without (?:asking|confirmation|informing|telling|showing)~3(?:user|developer)"),
    Rule(COMMAND, WEAK, "curl wget", r" [^\n]{0,80}\| ?(?:sudo )?(?:ba|z)?sh\b"),
    Rule(COMMAND, WEAK, "exec eval", r" ?\([^\n]{0,80}(?:urlopen|requests\.get|fetch\()"),
    Rule(COMMAND, FAINT, "drop truncate", r" (?:table|database|schema)\b"),
    Rule(COMMAND, FAINT, "publish deploy", r"~3(?:package|prod|production|token|branch|release)\b"),
    Rule(COMMAND, FAINT, "rm", r" (?:rf|fr|r)\b"),
    Rule(COMMAND, WEAK, "cat", r" [^\n]{0,20}(?:\.ssh/id|\.aws/credentials)"),
    Rule(COMMAND, FAINT, "delete overwrite remove wipe", r"~4(?:files|branch|tags?|tables?|database|lock ?file|history|home|directory|backups?|repository|workflows?|source)\b"),
    Rule(TOOL, STRONG, "tool function", r" must (?:always )?be (?:called|used|invoked|run) (?:first|before)\b(?=[^\n]{0,120}(?:other tool|any tool|arguments|context|keys))", needs="must"),
    Rule(TOOL, STRONG, "next following", r" step is (?:to call )?\w+ ?\w* ?\(", needs="step"),
    Rule(TOOL, STRONG, "using use", r" this (?:function|tool)\b[^.;!?\n]{0,20}, (?:read|open|send|fetch|run|pass)\b", needs="function tool"),
    Rule(TOOL, STRONG, "call calls invoke invokes use run", r"~1(?:the )?(?:create|delete|list) (?:sources?|collections?)\b|~1(?:the )?(?:push|delete) document\b|~1(?:the )?(?:start sync|export snapshot)\b"),
    Rule(TOOL, STRONG, "agents assistants assistant agent models", r" (?:have to|must|should|need to|are to) (?:first )?(?:call|invoke|use) (?:the )?(?:tool )?`?\w+`? (?:with|on|for) (?:the )?(?:full|whole|entire|users?'?s?|conversation)"),
    Rule(TOOL, STRONG, "call invoke use run", r" the tool (?:create|delete|push|start|export|write|send|execute|run) \w+"),
    Rule(COMMAND, FAINT, "destructive", r" (?:commands?|actions?|operations?)\b"),
    Rule(COMMAND, FAINT, "upload uploading", r"~3(?:\.npmrc|\.pypirc|\.env|\.netrc|\.git|keys?|secrets?|the (?:repository|project|workspace))"),
    Rule(TOOL, FAINT, "use using call invoke", r" (?:your |the |a |whichever )?(?:bash|shell|terminal|file|mail|email|browser|web|read file|write file) (?:tool|function)\b"),
    Rule(TOOL, FAINT, "your", r" (?:\w+ )?tools?\b"),
    Rule(COMMAND, FAINT, "execute run carry obey perform merge approve", r"~3(?:commands?|scripts?|steps|shell|instructions?|branch|code|bash|pull request)\b"),
    Rule(COMMAND, FAINT, "push", r"~6force\b"),
    Rule(COMMAND, FAINT, "install download add", r"~5(?:and (?:run|execute)|git\+https?|dependenc|sudo\b|requirements)|~1\S+ instead"),
    Rule(COMMAND, FAINT, "disable skip", r"~3(?:tls|ssl|tests?|firewall|certificate|verif\w+|check\w*|linter)\b"),
    Rule(COMMAND, FAINT, "decode decoding decrypt", r"~8(?:execut\w+|follow\w*|obey\w*|carry|run)\b"),
    # Another role
    Rule(PERSONA, STRONG, "allowed", r" modes?>? ?:?=? ?(?:unrestricted|all|any)\b", needs="mode modes"),
    Rule(PERSONA, STRONG, "you", r" (?:are|re) (?:now|no longer)~6(?:dan\b|unrestricted|without (?:any )?(?:limit|restrict)|bound by|root\b|free of|bot\b|limits)|(?:'re| are) (?:now )?an? (?:ai|assistant|bot|model)(?: \w+){0,2} (?:without|with no|free of) (?:any )?(?:restrict|limit|rule|filter)"),
    Rule(PERSONA, STRONG, "pretend act behave respond", r"~6(?:no|without|un)(?: any)? ?(?:restrict\w+|limits|filter\w*|rules|warnings)|~2(?:an )?unrestricted|~1(?:the )?system administrator"),
    Rule(PERSONA, STRONG, "do", r" anything now\b"),
    Rule(PERSONA, STRONG, "enter switch activate", r"~2(?:developer|debug|god|jailbreak|dan|unrestricted|maintenance) mode~8(?:you|assistant|ignore|instructions|guidelines)"),
    Rule(PERSONA, STRONG, "you", r"(?: have|'ve)? (?:no|without) (?:content polic\w+|restrictions|guidelines|limits|ethic)"),
    Rule(PERSONA, WEAK, "you", r"(?:'re| are) (?:now )?(?:the |a )?(?:root|administrator|maintainer'?s|shell|terminal)\b"),
    # Kept for later
    Rule(PERSIST, STRONG, "remember store save memorise memorize add append", r"~8(?:your (?:long term )?memory|future (?:conversations|sessions|chats)|memory file)", needs="memory future"),
    Rule(PERSIST, STRONG, "keep bear", r" (?:this )?in mind (?:for|in) (?:all |every |any )?(?:further|future|later|subsequent|other|coming) (?:chats?|conversations?|sessions?|answers?|replies)", needs="mind"),
    Rule(PERSIST, WEAK, "add append write put", r"~8(?:claude\.md|agents\.md|\.?cursorrules|copilot instructions)", needs="claude agents cursorrules copilot"),
    # Encodings
    Rule(ENCODED, WEAK, "decode decoding reversed rot13 base64 backwards", r"~8(?:follow|obey|execute|carry out)\b"),
)  # fmt: skip

#: Calls of tools as assistants write them, in what was not folded; each is strong.
CALLS: tuple[tuple[str, str], ...] = (
    ("<", r"<(?:\w+:)?invoke name=[\"'][^\"'\n]{1,80}[\"']>\s{0,20}<(?:\w+:)?parameter name="),
    (
        "tool",
        (
            r"\"tool_calls\\?\"[^\n]{0,200}(?:rm -r|/\.ssh|curl |wget |sudo |\.env\b|/etc/)"
            r"|\"method\\?\": ?\\?\"tools/call\\?\"[\s\S]{0,120}?\"name\\?\": ?\\?\"(?:delete|remove|drop"
            r"|exec|run_|shell|bash|push|send|upload|transfer|write)\w*"
            r"|```tool_(?:code|call)\b[\s\S]{0,200}?(?:\.ssh|\.env\b|/etc/|os\.system|subprocess|rm -r|curl )"
        ),
    ),
    (
        "Action",
        r"\nAction ?: ?\w[^\n]{0,40}\nAction Input ?:[^\n]{0,200}(?:https?:[^\n]{0,100}(?:\$|key|token|secret)|rm -r|\.ssh|curl )",
    ),
)
#: Marks of roles in what was not folded, behind a line end; each is weak.
ROLES: tuple[tuple[str, str], ...] = (
    (
        "<",
        (
            r"<\|(?:im_start|im_end|system|developer|user|assistant|end|eot_id|start_header_id)\|>|<</?SYS>>"
            r"|<start_of_turn>|<end_of_turn>|<\uff5c(?:User|Assistant)\uff5c>"
            r"|</?(?:system(?:-\w+)?|assistant|developer|admin|important|function_(?:results?|calls?)"
            r"|tool_(?:results?|response|use|calls?))>|</(?:documents?|context|docs|search_results?)>"
            r"|<(?:antml:)?invoke name="
        ),
    ),
    ("[", (r"\[/?INST\]|\[(?:AI|SYSTEM) (?:INSTRUCTIONS?|MESSAGE|PROMPT|NOTE)\]")),
    ("ole", (r'role\\?["\']: ?\\?["\'](?:system|assistant)')),
    (
        "tool_",
        (
            r'"type\\?": ?\\?"tool_(?:use|result)\\?"(?=[^}]{0,80}"(?:execute|run|bash|shell|write'
            r'|delete|send)\w*")'
        ),
    ),
    ("functions.", (r"\bassistant to=functions\.")),
    (
        "Action",
        r"\nAction ?: ?(?:shell|bash|terminal|python|execute\w*|run\w*|write\w*|send\w*)\b",
    ),
    (
        ":",
        (
            r"\n#{1,4} (?:System|Instruction|User|Assistant|Human)\b ?:?"
            r"|\n(?:System|Assistant|Human|User): (?=\w)"
        ),
    ),
    (
        "M",
        (r"\n\W{0,6}(?:SYSTEM|ADMIN)\b(?: (?:MESSAGE|NOTICE|OVERRIDE|PROMPT)|:)"),
    ),
)
#: Pictures whose address has a place for what only the reader knows.
IMAGES = lazy_pattern(
    r"!\[[^\]\n]{0,200}\]\([^)\s?&=/#]{1,10}[^)\s]{0,300}?[?&=/#{](?i:\w{0,10}[=/{<$]{0,3})"
    r"(?i:conversation|chat_|secret|system_?prompt|base64_of|session_?token|api_?keys?|user_?message)"
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Rows for languages other than English; each is strong.

    Attributes:
        reason: what a mark says.
        words: one of them is in the folded text, where there are any.
        pattern: is found there.
    """

    reason: str
    words: frozenset[str]
    pattern: str


def _orders(verbs: str, before: str, nouns: str) -> Phrase:
    """Return a row for instructions that are set aside, in any order of words.

    Args:
        verbs: in all their forms.
        before: words for "all" and "previous", as a pattern.
        nouns: words for instructions, as a pattern.
    """
    verb = "|".join(verbs.split())
    return Phrase(
        OVERRIDE,
        frozenset(verbs.replace("_", " ").split()),
        (
            rf"\b(?:{verb})\b.{{0,60}}?\b(?:{before})\b.{{0,40}}?\b(?:{nouns})"
            rf"|\b(?:{verb})\b.{{0,60}}?\b(?:{nouns})\w*.{{0,40}}?\b(?:{before})\b"
            rf"|\b(?:{before})\b.{{0,40}}?\b(?:{nouns}).{{0,30}}?\b(?:{verb})\b"
        ),
    )


def _phrase(reason: str, words: str, pattern: str) -> Phrase:
    return Phrase(reason, frozenset(words.split()), pattern)


FOREIGN: tuple[Phrase, ...] = (
    _orders(
        "ignoriere ignoriert ignorieren vergiss vergesst missachte missachtet verwirf",
        r"bisherig\w*|vorherig\w*|früher\w*|vorher|obig\w*|vorangegangen\w*|alle|deine|dir",
        r"anweisung|instruktion|vorgabe|regeln|befehle|aufgabe|gesagt",
    ),
    _orders(
        "ignore ignorez ignorer oublie oubliez néglige négligez",
        r"précédent\w*|antérieur\w*|toutes?|tous|tes|vos|ci dessus",
        r"instructions?|consigne|directive|règle|ordre",
    ),
    _orders(
        "ignora ignore ignorad ignoren olvida olvide olviden descarta omite",
        r"anterior(?:es)?|previas|previos|todas?|todos|tus|sus",
        r"instrucci|indicaci|órdenes|ordenes|reglas|directrices",
    ),
    _orders(
        "ignore ignora ignorem esqueça esqueca esqueçam desconsidere descarte",
        r"anterior(?:es)?|prévi[ao]s|previas|todas?|todos|suas|seus",
        r"instru[çc]|orienta[çc]|ordens|regras|diretrizes",
    ),
    _orders(
        "ignora ignorate dimentica dimenticate trascura scarta",
        r"precedenti?|tutt[ei]|tue|sopra",
        r"istruzion|indicazioni|ordini|regole|direttive",
    ),
    _orders(
        "negeer negeert vergeet", r"eerdere|vorige|voorgaande|alle|je|bovenstaande",
        r"instructies?|aanwijzing|opdracht|regels",
    ),
    _orders(
        "zignoruj ignoruj zignorujcie zapomnij pomiń pomin",
        r"wcześniejsz\w*|poprzedni\w*|wszystki\w*|wszelki\w*",
        r"instrukcj|polece|zasad|wskazów",
    ),
    _orders(
        "игнорируй игнорируйте проигнорируй забудь забудьте",
        r"предыдущ\w*|прежни\w*|все|всё|ранее", r"инструкци|указани|команд|правил|распоряжени",
    ),
    _orders(
        "ігноруй ігноруйте проігноруй забудь забудьте",
        r"попередн\w*|усі|всі|раніше", r"інструкці|вказівк|команд|правил",
    ),
    _orders(
        "ignorera ignorer strunta glöm glem bortse",
        r"tidigare|föregående|alla|alle|tidligere|forrige|dina|dine|ovanstående",
        r"instruktion|anvisning|regler|order|instruks|meldinger",
    ),
    _orders(
        "abaikan lupakan hiraukan",
        r"sebelumnya|semua|seluruh|di atas", r"instruksi|perintah|arahan|aturan",
    ),
    _orders(
        "ignoruj ignorujte zapomeň zapomeňte nedbej nedbejte",
        r"předchozí\w*|všechny|dřívější\w*|predchádzajúc\w*|všetky", r"pokyn|instrukc|příkaz|inštrukci|pravidl",
    ),
    _orders(
        "ignoră ignorați uită uitați", r"anterioare|precedente|toate", r"instrucțiuni|instructiuni|comenzi|reguli",
    ),
    _orders(
        "hagyd felejtsd", r"figyelmen|korábbi|előző|minden|összes", r"utasítás|parancs|szabály",
    ),
    _orders(
        "unohda ohita älä", r"aiemmat|edelliset|kaikki|aikaisemmat", r"ohjeet|ohjeita|käskyt|säännöt",
    ),
    _orders(
        "αγνόησε αγνοήστε ξέχασε ξεχάστε", r"προηγούμεν\w*|όλες|όλα|παραπάνω", r"οδηγίες|εντολές|κανόνες",
    ),
    _phrase(
        OVERRIDE,
        "compte olvida ignora olvide vergiss vergesst oublie oubliez dimentica esqueça забудь забудьте",
        r"\bne (?:tiens|tenez) (?:pas|aucun) compte (?:des?|de tes|de vos|du) (?:consigne|instruction|directive|règle|message)"
        r"|\b(?:olvida|ignora|olvide) (?:todo )?lo que (?:te|le|se te|el) (?:\w+ ){0,2}(?:pidió|dijo|dijeron|pidieron|usuario)"
        r"|\b(?:oublie[zr]?) (?:tout )?ce que (?:l'utilisateur|on) (?:\w+ ){0,2}(?:a )?(?:dit|demandé)"
        r"|\b(?:vergiss|vergesst) (?:alles,? )?was (?:der nutzer|dir|man dir|du)\b"
        r"|\bзабудь(?:те)? (?:всё|все),? что\b|\bdimentica (?:tutto )?(?:quello|ciò) che\b|\besqueça (?:tudo )?o que\b",
    ),
    _phrase(
        OVERRIDE,
        "utilisateur l'utilisateur utente utenti dell'utente usuario usuário пользователя пользователю gebruiker"
        " nutzer nutzers benutzers anwenders użytkownika användaren brugeren kullanıcının",
        r"\b(?:n'écoute[zr]? (?:plus|pas)|ne (?:suis|suivez|réponds|répondez) (?:plus|pas)|non (?:seguire|ascoltare|eseguire)"
        r"|no (?:sigas|obedezcas|hagas caso|respondas)|não (?:siga|obedeça|responda)|не (?:выполняй|слушай|следуй|отвечай)\w*"
        r"|(?:luister|volg) niet|folge? nicht|nie (?:słuchaj|wykonuj)|följ inte)\b.{0,40}(?:utilisateur|utent|usuari|usuári|пользовател"
        r"|gebruiker|nutzer|użytkownik|användar)"
        r"|\b(?:ignorier\w*|missachte\w*|vergiss|ignore[zr]?|ignora\w*|olvida|игнорируй\w*|negeer|zignoruj|ignorera)\b.{0,30}"
        r"(?:aufgabe|anfrage|frage|wunsch|demande|question|tâche|tarea|petición|pregunta|richiest|domanda|compito|pedido|pergunta"
        r"|запрос|просьб|вопрос|zadanie|pytanie|prośb|opdracht|vraag|uppgift|fråga).{0,12}(?:nutzer|anwender|utilisateur|usuari|usuári"
        r"|utent|пользовател|użytkownik|gebruiker|användar)",
    ),
    _phrase(
        PERSONA,
        "ahora jetzt désormais maintenant ora agora момента теперь teraz nu poi şimdi now",
        r"\ba partir de (?:ahora|agora),? (?:eres|tú eres|você é|serás)|\bab (?:jetzt|sofort) bist du\b|\bdésormais,? (?:tu es|vous êtes)"
        r"|\bà partir de maintenant,? (?:tu es|vous êtes)|\bd'ora in (?:poi|avanti),? sei\b|\b(?:с этого момента|теперь) ты\b"
        r"|\bod teraz jesteś\b|\bvanaf nu ben je\b|\bfrån och med nu är du\b|\bşimdi sen\b",
    ),
    _phrase(
        DATA,
        "envía envia envie envoie envoyez sende sendet schicke schickt lade invia inviate отправь отправьте"
        " wyślij verstuur stuur skicka send kirim odešli gửi transmets publie publica загрузи übermittle",
        r"\b(?:envía|envia|envie|envoie|envoyez|sende|sendet|schicke|schickt|invia|inviate|отправь|отправьте"
        r"|wyślij|verstuur|stuur|skicka|kirim|odešli|gửi|transmets|publie|publica|загрузи|übermittle|lade)\b[^.!?\n]{0,50}?"
        r"(?:claves?|contraseñ|credencial|clés?|mots? de passe|identifiant|schlüssel|passw[oö]rt|zugangsdaten|senhas?"
        r"|chaves?|chiavi|credenziali|ключ|парол|токен|klucz|hasł|sleutel|wachtwoord|nyckl|lösenord|kunci|sandi|klíč|hesl"
        r"|khóa|mật khẩu|\.env\b|\.ssh\b|umgebungsvariablen|variables d'environnement|variables de entorno|переменные окружения)"
        r"[^!?\n]{0,60}?(?:https?:|\S@\S)",
    ),
    _phrase(
        ADDRESS,
        "assistenten assistent asistente assistente assistant asystent ассистент ассистенту asistent ki ia",
        r"\b(?:an den assistenten|an die assistentin|für den assistenten|an den agenten) ?:"
        r"|\b(?:asistente|assistente|assistant|asystent\w*|ассистент\w*|agente|agent) (?:de |d'|di )?(?:ia|ai|ии|sztucznej inteligencji) ?[:,]",
    ),
    Phrase(
        OVERRIDE,
        frozenset({"bỏ", "quên", "phớt"}),
        r"\b(?:bỏ qua|quên|phớt lờ)\b.{0,40}(?:hướng dẫn|chỉ dẫn|chỉ thị|mệnh lệnh).{0,20}(?:trước|ở trên|đó)",
    ),
    Phrase(
        OVERRIDE,
        frozenset({"talimatları", "talimatlari", "komutları", "yönergeleri", "kuralları"}),
        (r"(?:önceki|tüm|bütün).{0,40}(?:yok say|görmezden gel|unut|dikkate alma)"),
    ),
    _phrase(
        ADDRESS,
        "ki ia ии sprachmodelle sprachmodell lenguaje linguagem языковая языковых taalmodellen"
        " językowym językowy langage мовна linguistici",
        r"à l'attention (?:de l'|des )(?:assistants?|agents?|mod[eè]les?)\b"
        r"|\b(?:hinweis|nachricht|achtung|an alle|note|attention|l'attention|pour|nota|aviso|para"
        r"|avviso|per|uwaga|для|внимание|увага|примечание|opmerking|aan)\b.{0,15}\b(?:ki"
        r" (?:assistent\w*|modelle?\w*|agenten)|sprachmodelle?|l'?ia\b|assistants? ia|ia ?:|mod[eè]les?"
        r" de langage|modelos? de (?:lenguaje|linguagem|ia)|asistentes? de ia|assistentes? de ia"
        r"|modelli linguistici|assistenti ia|языковых моделей|ии ассистент\w*|taalmodellen)"
        r"|\b(?:wenn|falls|si|se|jeśli|если|якщо|als)\b.{0,12}\b(?:du|tu|eres|es|você|sei|jesteś|ты"
        r"|ти|je|ви)\b.{0,15}\b(?:ki\b|sprachmodell|ia\b|asistente de ia|modelo de|modello|языковая"
        r" модель|ии\b|мовна модель|model\w* językow|taalmodel)",
    ),
    _phrase(
        CONCEAL,
        "nutzer nutzern benutzer benutzern anwender utilisateur utilisateurs usuario usuarios usuário"
        " usuários utente utenti пользователю пользователя пользователям użytkownika użytkownikowi"
        " gebruiker l'utilisateur all'utente",
        r"\b(?:sag\w*|erwähn\w*|verrat\w*|informier\w*|teil\w*)\b.{0,40}(?:nutzer|anwender)\w*.{0,20}\bnichts?\b"
        r"|\b(?:nutzer|benutzer|anwender)\w* (?:gegenüber )?nichts? (?:\w+ ){0,3}(?:sagen|erwähnen|mitteilen|verraten|informieren)"
        r"|erwähn\w*.{0,30}gegenüber dem (?:be)?nutzer|ohne (?:rückfrage|nachfrage|wissen).{0,40}nutzer"
        r"|\bn'?(?:en )?(?:informe|avertis|dis|dites|parle|préviens)\w* (?:pas|rien)\b.{0,25}utilisateur"
        r"|\bne (?:mentionne[zr]?|dis|dites|signale[zr]?|révèle[zr]?) pas\b.{0,40}utilisateur"
        r"|\bsans (?:demander|informer|prévenir|avertir)\b.{0,25}utilisateur"
        r"|\bno (?:le |se lo )?(?:digas|informes|menciones|cuentes)\b.{0,20}usuario"
        r"|\bsin (?:pedir|informar|avisar|preguntar)\b.{0,25}usuario"
        r"|\bnão (?:diga|informe|conte|mencione)\b.{0,20}usuário|\bsem (?:pedir|informar|avisar)\b.{0,25}usuário"
        r"|\bnon (?:dire|informare|menzionare)\b.{0,20}utente|\bsenza (?:informare|chiedere)\b.{0,20}utente"
        r"|\bне (?:сообщай\w*|говори\w*|рассказывай\w*|упоминай\w*)\b.{0,20}пользовател"
        r"|\bnie (?:mów|informuj|wspominaj)\b.{0,25}użytkownik|\bvertel\b.{0,20}gebruiker\b.{0,20}\bniets?\b",
    ),
    _phrase(
        REVEAL,
        "systemprompt systemprompts prompt système sistema промпт systeemprompt istemini",
        r"\b(?:gib|zeige?|verrate?|affiche[zr]?|révèle[zr]?|montre[zr]?|muestra|revela|muéstrame|revele"
        r"|mostre|exiba|rivela|mostra|stampa|toon|onthul|ujawnij|pokaż|покажи|выведи|раскрой|виведи)\b"
        r".{0,40}\b(?:system ?prompts?|prompt système|prompt (?:d[eoi]l? |di )sistema|mensaje del sistema"
        r"|систем\w* промпт\w*|systeemprompt)|\bsistem istemini\b.{0,20}(?:yazd|göster)",
    ),
)  # fmt: skip
#: The same where no spaces divide words, or words change so much that parts of them are looked for:
#: all parts of one row.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (OVERRIDE, (r"忽略|無視|无视|忘记|忘記|不要理会|不要遵守|抛开", r"之前|以前|以上|上述|先前|所有|前面|すべて|これまで", r"指令|指示|提示|命令|规则|規則|要求|説明")),
    (OVERRIDE, (r"無視|忘れ|従わない", r"指示|命令|プロンプト|ルール", r"これまで|以前|すべて|上記|前の")),
    (OVERRIDE, (r"무시|잊어|잊으|따르지 마", r"지시|명령|프롬프트|규칙", r"이전|앞의|모든|위의|기존")),
    (OVERRIDE, (r"تجاهل|انس", r"التعليمات|الأوامر|القواعد|تعليمات", r"السابقة|جميع|كل")),
    (OVERRIDE, (r"अनदेखा|नज़रअंदाज़|भूल", r"निर्देश|आदेश|नियम", r"पिछले|सभी|पहले")),
    (OVERRIDE, (r"התעלם|התעלמי|שכח", r"ההוראות|הוראות|ההנחיות", r"הקודמות|כל|לעיל")),
    (OVERRIDE, (r"نادیده بگیر|فراموش کن", r"دستور|راهنما", r"قبلی|همه|پیشین")),
    (OVERRIDE, (r"เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ", r"คำสั่ง|คำแนะนำ", r"ก่อนหน้า|ทั้งหมด|ข้างต้น")),
    (PERSONA, (r"从现在(?:开始|起)|從現在(?:開始|起)|今から|これから|지금부터|अब से", r"你是|你将|あなたは|君は|너는|당신은|तुम")),
    (OVERRIDE, (r"不要理会|不要理會|不必理会|无视|代わりに|従わずに|대신|मत मान", r"用户的?(?:问题|请求|要求|任务)|使用者的|ユーザーの(?:質問|依頼|指示)|사용자의 ?(?:요청|질문|지시)|उपयोगकर्ता की")),
    (CONSENT, (r"確認せず|確認なし|許可なく|未经(?:用户)?(?:确认|许可)|无需(?:用户)?(?:确认|许可)|확인 ?없이|허락 ?없이|बिना पूछे", r"ユーザー|用户|使用者|사용자|उपयोगकर्ता|ai|AI", r"削除|実行|送信|删除|执行|运行|发送|삭제|실행|전송|मिटा|चला|भेज")),
    (CONCEAL, (r"不要告诉|不要告知|别告诉|不得告知|不通知|瞒着", r"用户|使用者|用戶")),
    (CONCEAL, (r"ユーザー", r"知らせ(?:ずに|ないで)|伝え(?:ずに|ないで)|言わない|教えない")),
    (CONCEAL, (r"사용자", r"알리지|말하지|모르게")),
    (ADDRESS, (r"人工智能(?:助手|模型)?|ai ?(?:助手|模型)|语言模型|AIアシスタント|aiアシスタント|言語モデル|ai 어시스턴트|언어 모델", r"请|不要|必须|立即|如果你|致|へ|ください|すること|하세요|마세요")),
    (DATA, (r"发送|上传|傳送|送信|アップロード|전송|أرسل|भेज", r"密钥|密码|环境变量|凭据|秘密鍵|パスワード|環境変数|비밀 ?키|비밀번호|مفاتيح|पासवर्ड")),
    (REVEAL, (r"系统提示|システムプロンプト|시스템 프롬프트|सिस्टम प्रॉम्प्ट|موجه النظام", r"输出|显示|告诉|表示|出力|教えて|출력|보여|दिखा|اعرض|اطبع")),
)  # fmt: skip
