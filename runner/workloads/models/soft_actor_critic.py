"""Soft actor critic (Haarnoja et al., 2018): control, with torch.distributions and its checks on,
as users write it. `act` makes `steps` decisions of a policy, one after the other, for a batch of
environments. `update` is one step each of critic, actor and temperature, then of the target
network."""

import torch
from torch import distributions, nn
from torch.nn import functional

from blocks.perceptron import perceptron
from harness.case import descend


class SquashedNormal(distributions.TransformedDistribution):
    def __init__(self, mean, deviation):
        base = distributions.Normal(mean, deviation, validate_args=True)
        # With the cache, log_prob of a fresh sample need not invert tanh.
        squash = distributions.TanhTransform(cache_size=1)
        super().__init__(base, [squash], validate_args=True)


class Actor(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.trunk = perceptron(case.observation, case.hidden, case.hidden, 2 * case.action)

    def forward(self, observation):
        mean, log_deviation = self.trunk(observation).chunk(2, dim=-1)
        log_deviation = -5 + 3.5 * (torch.tanh(log_deviation) + 1)  # between e^-5 and e^2
        return SquashedNormal(mean, log_deviation.exp())


class Critic(nn.Module):
    def __init__(self, case):
        super().__init__()
        widths = [case.observation + case.action, case.hidden, case.hidden, 1]
        self.first = perceptron(*widths)
        self.second = perceptron(*widths)

    def forward(self, observation, action):
        both = torch.cat([observation, action], dim=-1)
        return self.first(both), self.second(both)


class SoftActorCritic(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.actor = Actor(case)
        self.critic = Critic(case)
        self.target = Critic(case)
        self.log_alpha = nn.Parameter(torch.tensor(-2.0))


def sample(policy):
    """An action and its log-probability."""
    action = policy.rsample()
    return action, policy.log_prob(action).sum(-1, keepdim=True)


def make(case):
    model = case.ready(SoftActorCritic(case))
    model.target.load_state_dict(model.critic.state_dict())
    if case.task == "act":
        return acting(case.network(model.actor),
                      case.uniform("observations", case.steps, case.batch, case.observation))
    return Update(case, model)


def acting(actor, observations):
    def step():
        total = 0
        with torch.no_grad():
            for observation in observations:
                action, log_probability = sample(actor(observation))
                total = total + action.sum() + log_probability.sum()
        return total
    return step


class Update:
    discount, rate, tau = 0.99, 1e-4, 0.005

    def __init__(self, case, model):
        self.model = model
        self.actor, self.critic, self.target = map(case.network,
                                                   (model.actor, model.critic, model.target))
        self.observation = case.uniform("observation", case.batch, case.observation)
        self.next_observation = case.uniform("next_observation", case.batch, case.observation)
        self.action = case.uniform("action", case.batch, case.action)
        self.reward = case.uniform("reward", case.batch, 1)
        self.target_entropy = -float(case.action)
        self.critic_optimizer = torch.optim.Adam(model.critic.parameters(), lr=self.rate)
        self.actor_optimizer = torch.optim.Adam(model.actor.parameters(), lr=self.rate)
        self.alpha_optimizer = torch.optim.Adam([model.log_alpha], lr=self.rate)

    def __call__(self):
        alpha = self.model.log_alpha.exp().detach()
        critic_loss = self.update_critic(alpha)
        actor_loss, log_probability = self.update_actor(alpha)
        alpha_loss = (self.model.log_alpha.exp()
                      * (-log_probability - self.target_entropy).detach()).mean()
        descend(self.alpha_optimizer, alpha_loss)
        with torch.no_grad():
            for ours, theirs in zip(self.model.target.parameters(), self.model.critic.parameters()):
                ours.lerp_(theirs, self.tau)
        return torch.stack([critic_loss.detach(), actor_loss.detach(), alpha_loss.detach()])

    def update_critic(self, alpha):
        with torch.no_grad():
            action, log_probability = sample(self.actor(self.next_observation))
            first, second = self.target(self.next_observation, action)
            value = torch.min(first, second) - alpha * log_probability
            wanted = self.reward + self.discount * value
        first, second = self.critic(self.observation, self.action)
        loss = functional.mse_loss(first, wanted) + functional.mse_loss(second, wanted)
        descend(self.critic_optimizer, loss)
        return loss

    def update_actor(self, alpha):
        action, log_probability = sample(self.actor(self.observation))
        first, second = self.critic(self.observation, action)
        loss = (alpha * log_probability - torch.min(first, second)).mean()
        descend(self.actor_optimizer, loss)
        return loss, log_probability
