"""A vocabulary with deprecated subjects of all kinds, and records that have them."""

HERE = "http://example.org/"
VOCABULARY = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/> .
:cats a skos:Concept ; skos:inScheme :animals ; skos:prefLabel "cats"@en ; skos:broader :beasts .
:dogs a skos:Concept ; skos:inScheme :animals ; skos:prefLabel "dogs"@en .
:creatures a skos:Concept ; skos:prefLabel "creatures"@en .
:beasts a skos:Concept ; owl:deprecated true ; skos:prefLabel "beasts"@en ;
  dct:isReplacedBy :creatures .
:felines a skos:Concept ; owl:deprecated true ; skos:prefLabel "felines"@en ;
  dct:isReplacedBy :house-cats .
:house-cats a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :cats .
:hounds a skos:Concept ; owl:deprecated true ; skos:inScheme :animals ; skos:exactMatch :dogs .
:pooches a skos:Concept ; skos:prefLabel "pooches"@en ; dct:isReplacedBy :dogs .
:pets a skos:Concept ; owl:deprecated true ; skos:prefLabel "pets"@en ;
  dct:isReplacedBy :cats, :dogs .
:a a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :b .
:b a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :a .
:lost a skos:Concept ; owl:deprecated true ; dct:isReplacedBy :elsewhere .
:foreign a skos:Concept ; owl:deprecated true ; skos:inScheme :others ; skos:exactMatch :dogs .
"""
OLD_RECORDS = [
    ("black cats purr", "felines"),
    ("cats purr loudly", "cats felines"),
    ("dogs bark loudly", "hounds"),
    ("black dogs bark", "pooches"),
    ("cats and dogs at home", "pets"),
    ("nobody knows", "yeti"),
]


def format_record(text, names) -> str:
    """Format a record of Annif's corpus."""
    uris = " ".join(f"<{HERE}{name}>" for name in names.split())
    return f"{text}\t{uris}\n"


def write_vocabulary(folder, records=OLD_RECORDS, vocabulary=VOCABULARY) -> str:
    """Write the files; return the options of ``ovaflow prepare`` that read them."""
    (folder / "v.ttl").write_text(vocabulary)
    lines = [format_record(text, names) for text, names in records]
    (folder / "a.tsv").write_text("".join(lines) * 2)
    files = f"--train={folder}/a.tsv --test={folder}/a.tsv --vocabulary={folder}/v.ttl"
    return f"--format=annif {files} --min-df=1 --max-df=1.0"
