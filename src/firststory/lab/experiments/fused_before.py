"""What the rule before this one came to on the same streams, measured once with the code that had it.

That rule: the mean of the nearest neighbour and the nearest cluster, the latter counting by the share of documents that
opened one; ten documents to a day without times; rows with a vector judged by their neighbours alone.
"""

from __future__ import annotations

_SHARES = {
    "localnews: incidents": {
        "with times": (0.669, 0.066),
        "without times": (0.7033, 0.0599),
        "shuffled": (1.2891, -0.0237),
        "short, with times": (0.6981, 0.0394),
        "short, without times": (0.7291, 0.036),
    },
    "localnews: incidents, 20 words": {
        "with times": (0.8918, 0.1649),
        "without times": (0.9587, 0.132),
        "shuffled": (1.0491, -0.0669),
        "short, with times": (0.836, 0.1059),
        "short, without times": (0.8706, 0.0867),
    },
    "localnews: incidents told twice or more": {
        "with times": (0.6015, 0.0553),
        "without times": (0.6642, 0.0486),
        "shuffled": (1.4074, -0.0292),
        "short, with times": (0.6275, 0.04),
        "short, without times": (0.653, 0.0356),
    },
    "localnews: the same, lower-cased": {
        "with times": (0.6468, 0.0499),
        "without times": (0.6946, 0.0418),
        "shuffled": (1.498, -0.0442),
        "short, with times": (0.6669, 0.0345),
        "short, without times": (0.7065, 0.0285),
    },
    "thisisallabout: headlines": {
        "with times": (0.8063, 0.0666),
        "without times": (0.8271, 0.0608),
        "shuffled": (1.0217, -0.003),
        "short, with times": (0.877, 0.0362),
        "short, without times": (0.9376, 0.0276),
    },
    "news2017: headlines": {
        "with times": (0.7893, 0.0713),
        "without times": (0.8791, 0.0549),
        "shuffled": (1.0685, -0.0381),
        "short, with times": (0.7968, 0.0454),
        "short, without times": (0.9034, 0.0312),
    },
    "tweets: and as many alone": {
        "with times": (0.5873, 0.1274),
        "without times": (0.6228, 0.113),
        "shuffled": (1.1403, -0.0316),
        "short, with times": (0.6612, 0.1017),
        "short, without times": (0.6819, 0.092),
    },
    "tweets: that share a link": {
        "with times": (0.9366, 0.0986),
        "without times": (0.9932, 0.0838),
        "shuffled": (1.1014, -0.0765),
        "short, with times": (0.9237, 0.0807),
        "short, without times": (0.964, 0.0694),
    },
    "wcep: events": {
        "with times": (0.8125, 0.1131),
        "without times": (0.8163, 0.1146),
        "shuffled": (1.1441, -0.0485),
        "short, with times": (0.9345, 0.0432),
        "short, without times": (0.9374, 0.0453),
    },
    "timeline17: timeline": {
        "with times": (0.7232, 0.0215),
        "without times": (0.8962, -0.0036),
        "shuffled": (2.9443, -0.0347),
        "short, with times": (1.0232, 0.0163),
        "short, without times": (0.9879, 0.0085),
    },
    "timeline17: timeline, 20 words": {
        "with times": (0.641, 0.0641),
        "without times": (0.8712, 0.0234),
        "shuffled": (1.623, -0.0692),
        "short, with times": (0.8917, 0.0187),
        "short, without times": (0.9131, -0.0151),
    },
    "tdt2: topics": {
        "with times": (0.7286, 0.0068),
        "without times": (0.7285, 0.0073),
        "shuffled": (1.5784, -0.0149),
        "short, with times": (1.1316, 0.0054),
        "short, without times": (1.2998, 0.0005),
    },
    "tdt2: topics, 12 words": {
        "with times": (1.1177, -0.0326),
        "without times": (1.0924, -0.1003),
        "shuffled": (4.6268, -0.2594),
        "short, with times": (1.2061, -0.0259),
        "short, without times": (1.2487, -0.0908),
    },
    "crisislex: tweets": {
        "with times": (0.566, 0.0909),
        "without times": (0.6646, 0.0801),
        "shuffled": (3.1508, -0.1513),
        "short, with times": (0.8845, -0.001),
        "short, without times": (0.9823, -0.0051),
    },
    "mstream: tweets": {
        "without times": (1.0082, 0.0159),
        "shuffled": (2.0976, -0.0715),
        "short, without times": (1.3138, -0.0025),
    },
    "gitbugs: hadoop (duplicates)": {
        "with times": (1.0036, -0.0035),
        "without times": (1.0036, 0.0011),
        "shuffled": (1.0102, -0.0404),
        "short, with times": (1.0053, -0.0203),
        "short, without times": (0.9947, -0.0035),
    },
    "openoffice: reports (duplicates)": {
        "with times": (1.0015, -0.0447),
        "without times": (1.0012, -0.0334),
        "shuffled": (1.0263, -0.1317),
        "short, with times": (1.0361, -0.0314),
        "short, without times": (1.0131, -0.0193),
    },
    "reuters21578: topics (broad)": {
        "with times": (1.3681, -0.1461),
        "without times": (1.3739, -0.1725),
        'horizon="topics"': (1.0326, -0.0563),
    },
    "newsgroups20: groups (broad)": {
        "with times": (1.2546, -0.0076),
        "without times": (2.7928, -0.1531),
        'horizon="topics"': (0.8063, 0.0105),
    },
}

BEFORE = {(stream, regime): found for stream, regimes in _SHARES.items() for regime, found in regimes.items()}
"""(stream, regime) -> share of the plain neighbour's cost, and how far the AUC lay above its."""
