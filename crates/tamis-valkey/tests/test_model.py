"""The same random commands at the module and at a model that remembers everything."""

import random
from collections import Counter

import pytest
from conftest import ALL, SERVERS, raw


def steps(server):
    """All of them for one server: what the others differ in is not in the module."""
    return 30_000 if ALL and server.program == SERVERS[0] else 4000



class BloomModel:
    def __init__(self, capacity, fixed):
        self.capacity, self.fixed = capacity, fixed
        self.members, self.new = set(), 0

    def add(self, item, answer):
        """Checks the answer to an addition, and remembers it."""
        if isinstance(answer, Exception):
            assert self.fixed and self.new == self.capacity and item not in self.members
            assert str(answer) == "non scaling filter is full"
            return
        if item in self.members:
            assert answer == 0
        self.new += answer
        self.members.add(item)


@pytest.mark.parametrize("seed", range(3))
def test_bloom(r, shared, seed):
    chance = random.Random(seed)
    models, wrong, asked = {}, 0, 0
    for step in range(steps(shared)):
        name = f"k{chance.randrange(6)}"
        item = f"i{chance.randrange(2000)}"
        model = models.get(name)
        what = chance.random()
        if what < 0.02:
            capacity, fixed = chance.randrange(1, 300), chance.random() < 0.3
            layout = chance.choice(["auto", "bloom", "blocked", "split"])
            words = [name, 0.01, capacity, "LAYOUT", layout] + ["NONSCALING"] * fixed
            reply = raw(r, "BF.RESERVE", *words)
            if model:
                assert str(reply) == "item exists"
            else:
                assert reply == b"OK"
                models[name] = BloomModel(capacity, fixed)
        elif what < 0.3:
            if not model:
                model = models[name] = BloomModel(100, False)
            model.add(item, raw(r, "BF.ADD", name, item))
        elif what < 0.5:
            items = [f"i{chance.randrange(2000)}" for _ in range(chance.randrange(1, 30))]
            if not model:
                model = models[name] = BloomModel(100, False)
            answers = raw(r, "BF.MADD", name, *items)
            assert len(answers) == len(items) or isinstance(answers[-1], Exception)
            for one, answer in zip(items, answers):
                model.add(one, answer)
        elif what < 0.8:
            items = [f"i{chance.randrange(4000)}" for _ in range(chance.randrange(1, 30))]
            answers = raw(r, "BF.MEXISTS", name, *items)
            for one, answer in zip(items, answers):
                if model and one in model.members:
                    assert answer == 1
                else:
                    wrong += answer
                    asked += 1
                    assert model or not answer
        elif what < 0.9:
            assert raw(r, "BF.CARD", name) == (model.new if model else 0)
        elif what < 0.92:
            r.delete(name)
            models.pop(name, None)
        elif what < 0.94 and model:
            other = f"k{chance.randrange(6)}"
            if other != name:
                r.copy(name, other, replace=True)
                twin = models[other] = BloomModel(model.capacity, model.fixed)
                twin.members, twin.new = set(model.members), model.new
        elif what < 0.95:
            r.execute_command("DEBUG", "RELOAD")
    assert asked > 1000 and wrong <= 0.01 * asked + 5 * (0.01 * asked) ** 0.5


@pytest.mark.parametrize("seed", range(3))
def test_cuckoo(r, shared, seed):
    chance = random.Random(seed)
    models = {}
    for step in range(steps(shared)):
        name = f"k{chance.randrange(4)}"
        item = f"i{chance.randrange(500)}"
        what = chance.random()
        model = models.get(name)
        if what < 0.4:
            model = models.setdefault(name, Counter())
            assert raw(r, "CF.ADD", name, item) == 1
            model[item] += 1
        elif what < 0.5:
            model = models.setdefault(name, Counter())
            added = raw(r, "CF.ADDNX", name, item)
            assert not (added and model[item])
            model[item] += added
        elif what < 0.7:
            # Only what was added is removed: a stranger that passes would take a member out.
            if model and model[item]:
                assert raw(r, "CF.DEL", name, item) == 1
                model[item] -= 1
        elif what < 0.85:
            assert raw(r, "CF.COUNT", name, item) >= (model[item] if model else 0)
        elif what < 0.95:
            items = [f"i{chance.randrange(500)}" for _ in range(20)]
            for one, answer in zip(items, raw(r, "CF.MEXISTS", name, *items)):
                assert answer or not (model and model[one])
        elif what < 0.96 and model:
            assert raw(r, "CF.INFO", name)[7] == sum(model.values())
        elif what < 0.97:
            r.execute_command("DEBUG", "RELOAD")
        elif what < 0.975:
            r.delete(name)
            models.pop(name, None)
