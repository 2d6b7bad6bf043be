"""Equations of what attends, with numbers worked out by hand (facts pages 01, 03, 06, papers)."""

import math

import pytest
import torch
from torch import nn

from milepost_lab.pooling import module
from milepost_lab.pooling.base import padded
from milepost_lab.pooling.layers import sparsemax, summaries
from milepost_lab.pooling.p2at import averages, scales
from support.by_hand import eye, full, same, tensor, texts

LN3 = math.log(3)


class TestPlain:
    def test_attention_weighs_by_its_direction(self):
        made = module("attention", 1)
        states, mask = texts([0, LN3])
        same(made(states, mask), [[LN3 / 2]])
        nn.init.ones_(made.query)
        same(made(states, mask), [[0.75 * LN3]])


class TestLayers:
    """Paper 2409.02727; checks of page 01."""

    def test_1_ragged_means_count_no_padding(self):
        first = [tensor([1, 2], [3, 4]), tensor([5, 6])]
        states, mask = padded([torch.stack([text, 10 * text], 1) for text in first])
        same(summaries(states, mask, "mean"), [[[2, 3], [20, 30]], [[5, 6], [50, 60]]])
        same(summaries(states, mask, "last"), [[[3, 4], [30, 40]], [[5, 6], [50, 60]]])

    def bare(self, latents, layers=2, **settings):
        given = {"heads": 1, "normalised": False, "residual": False, "widen": 0, **settings}
        made = module("multilayer", 2, layers=layers, latents=len(latents), **given)
        eye(made, "to_query", "to_out")
        made.to_key_value.weight.data = torch.cat([torch.eye(2), torch.eye(2)])
        made.latents.data = torch.tensor(latents, dtype=torch.float32)
        return made

    def test_2_one_key_is_read_alike_by_every_latent(self):
        """So the published last-layer baseline attends to nothing: it is a linear map."""
        for latents in ([[1, 0]], [[0, 1], [5, -3]]):
            states = tensor([3, 1])[:, None, None]
            found = self.bare(latents, layers=1)(states, full(states))
            same(found, [[0.999995, -0.999995]])

    def test_3_and_4_attention_over_layers_and_their_table(self):
        made = self.bare([[1, 0]])
        made.norm_latents, made.norm_keys = nn.Identity(), nn.Identity()
        states = tensor([[0, 0], [math.sqrt(2) * LN3, 0]])[:, None]
        swapped = states.flip(2)
        same(made(states, full(states)), [[1.165254299, 0]])
        same(made(states, full(states)), made(swapped, full(states)))
        made.layer_table.data = tensor([0, 1], [0, 0])
        same(made(states, full(states)), [[1.165254299, 0.25]])
        same(made(swapped, full(states)), [[1.165254299, 0.75]])

    @pytest.mark.parametrize(
        ("scores", "wanted"),
        [
            ([0, 0.5], [0.25, 0.75]),
            ([0, 1.5], [0, 1]),
            ([0.1, 0.2, 0.9], [0.033333333, 0.133333333, 0.833333333]),
        ],
    )
    def test_sparsemax(self, scores, wanted):
        same(sparsemax(torch.tensor(scores)), wanted)

    def test_mixes_of_layers(self):
        states = tensor([[4, 0], [0, 8]])[:, None]
        made = module("layer-mix", 2, layers=2)
        same(made(states, full(states)), [[2, 4]])
        made.scores.data, made.scale.data = tensor(0, LN3), tensor(2)
        same(made(states, full(states)), [[2, 12]])
        made = module("layer-sparse", 2, layers=2)
        made.scores.data = tensor(0, 1.5)
        same(made(states, full(states)), [[0, 8]])


class TestXPool:
    """Paper 2203.15086; checks of page 03."""

    def bare(self):
        made = module("xpool", 2, branch=False, final_norm=False)
        made.norm = made.query_norm = made.pooled_norm = nn.Identity()
        return made

    def test_1_and_2_attention_and_a_repeated_frame(self):
        query, frames = tensor([1, 0]), tensor([[1.553672398, 0], [0, 0]])
        made = self.bare()
        same(made(frames, full(frames), queries=query), [[1.165254299, 0]])
        weights, _ = made.weights(frames, full(frames), query[:, None])
        same(weights.flatten(), [0.75, 0.25])
        repeated = torch.cat([frames, frames[:, 1:]], 1)
        same(made(repeated, full(repeated), queries=query), [[0.932203439, 0]])
        mask = torch.tensor([[True, True, False]])
        same(made(repeated, mask, queries=query), [[1.165254299, 0]])

    @pytest.mark.parametrize(
        ("name", "settings", "similar"),
        [
            ("query-top-k", {"k": 2}, 0.894427191),
            ("query-top-k", {"k": 1}, 1),
            ("query-top-k", {"k": 9}, 0.664363839),
            ("query-softmax", {"temperature": 0.5}, 0.931740119),
            ("query-softmax", {"temperature": 0.01}, 1),
        ],
    )
    def test_4_the_baselines(self, name, settings, similar):
        query, frames = tensor([1, 0]), tensor([[1, 0], [0, 1], [0.6, 0.8]])
        vector = module(name, 2, **settings)(frames, full(frames), queries=query)
        same(nn.functional.cosine_similarity(query, vector), [similar])


class TestP2AT:
    """Paper 2310.15025; checks of page 06."""

    def test_1_a_constant_stays_constant_and_no_window_crosses_an_end(self):
        values, mask = texts([1] * 5, [1, 2, 3])
        same(averages(values, mask, 3)[0, :, 0], [1] * 5)
        same(averages(values, mask, 3)[1, :, 0], [1.5, 2, 2.5, 0, 0])

    def test_2_a_cascade_of_3_5_7_sees_13_places(self):
        impulse = torch.zeros(1, 41, 1)
        impulse[0, 20] = 1
        seen = scales(impulse, full(impulse), (3, 5, 7), cascade=True)[0, :, 0]
        assert [(seen[:, s] > 1e-9).sum().item() for s in range(3)] == [3, 7, 13]
        same(seen[20], [1 / 3, 1 / 5, 1 / 7])
        kernel = torch.tensor([1, 3, 6, 9, 12, 14, 15, 14, 12, 9, 6, 3, 1]) / 105
        same(seen[14:27, 2], kernel)

    def test_it_begins_as_the_mean_of_segments_means(self):
        states = torch.randn(1, 5, 6)
        vector = module("p2at", 6)(states, full(states), segments=torch.tensor([[0, 0, 0, 0, 1]]))
        same(vector[0], (states[0, :4].mean(0) + states[0, 4]) / 2)

    def test_the_pyramid_takes_the_greatest_average_of_each_width(self):
        values, mask = texts([0, 6, 0, 3])
        segments = torch.arange(4)[None]
        same(module("pyramid", 1, widths=(1, 3))(values, mask, segments=segments), [[4.5]])


class TestNewer:
    """pma 1810.00825, latent attention 2405.17428, adapool 2506.09215, splade 2109.10086."""

    FAR = tensor([[0, 0], [math.sqrt(2) * LN3, 0]])
    READ = 0.75 * math.sqrt(2) * LN3
    """For the query (1, 0) scores are 0 and ln 3, so weights 1/4 and 3/4."""

    @pytest.mark.parametrize("heads", [1, 2])
    def test_a_seed_attends_by_the_root_of_all_channels(self, heads):
        made = module("pma", 2, heads=heads, norms=False)
        eye(made, "query", "key", "feed")
        made.seeds.data = tensor([1, 0])
        # With two heads a channel alone is under the root: sqrt(2) of the code's scale is left.
        found = made(self.FAR, full(self.FAR))
        if heads == 1:
            same(found, [[2 * (1 + self.READ), 0]])
        else:
            weight = 1 / (1 + math.exp(-LN3))
            same(found, [[2 * (1 + weight * math.sqrt(2) * LN3), 0]])

    def test_tokens_read_latents_and_the_mean_comes_last(self):
        made = module(
            "latent-attention", 2, latents=2, heads=1, hidden=2, residual=False, norms=False
        )
        eye(made, *(f"maps.{n}" for n in range(4)), "mlp.0", "mlp.2")
        made.latents.data = self.FAR[0]
        states = tensor([[1, 0], [0, 0]])
        gelu = nn.functional.gelu(tensor(self.READ, self.READ * 2 / 3))
        same(made(states, full(states)), [[gelu.mean(), 0]])

    @pytest.mark.parametrize(("query", "weight"), [("mean", 0.75), ("last", 0.9), ("first", 0.5)])
    def test_the_query_weighs_states_by_their_product_with_it(self, query, weight):
        side = math.sqrt(LN3 / math.sqrt(2))
        states = tensor([[0, 0], [2 * side, 0]])
        same(module("adapool", 2, query=query)(states, full(states)), [[2 * side * weight, 0]])

    @pytest.mark.parametrize(("join", "times"), [("max", 1), ("sum", 2)])
    def test_weights_of_terms_are_saturated_and_joined(self, join, times):
        made = module("splade", 2, terms=3, join=join)
        made.terms.weight.data = tensor([1, 0], [0, 1], [2, 0])
        made.terms.bias.data = tensor(0, 0, -1)
        states = tensor([[3, 1], [5, 2], [1, 3]])  # norms (1, -1) twice, and (-1, 1)
        log2 = math.log(2)
        same(made(states, full(states)), [[log2 * times, log2, log2 * times]], atol=1e-4)

    def test_prefixes_of_wordpool_are_averaged_or_all_given(self):
        states = torch.randn(1, 5, 8)
        joined = module("wordpool", 8, prefixes=3, join="concat")(states, full(states))
        same(module("wordpool", 8, prefixes=3)(states, full(states)), joined.view(1, 3, 8).mean(1))
