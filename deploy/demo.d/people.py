"""Who wrote the demo's commits: invented people at example addresses."""

NAMES = [
    "Ada Okafor", "Bruno Castell", "Chen Yulan", "Dora Lindqvist", "Emre Aydin", "Farah Haddad",
    "Goran Petrov", "Hana Mori", "Ines Carvalho", "Jakob Steiner", "Kavya Raman", "Liam Doyle",
    "Maja Novak", "Nikhil Bose", "Olga Sidorova", "Pablo Rueda", "Quinn Archer", "Rosa Bianchi",
    "Samir Khalil", "Tove Hansen", "Uma Pillai", "Viktor Horvat", "Wen Jiahao", "Yara Costa",
    "Zofia Mazur",
]


def address(name):
    return name.lower().replace(" ", ".") + "@example.org"
