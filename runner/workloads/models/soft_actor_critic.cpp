// The C++ twin of soft_actor_critic.py. C++ has no torch::distributions, so it writes out the
// squashed normal.
#include "blocks/perceptron.hpp"
#include "harness/case.hpp"

namespace nightjar::workloads::soft_actor_critic {
namespace nn = torch::nn;
using torch::Tensor;

struct ActorImpl : nn::Module {
  explicit ActorImpl(const Case& made_for)
      : trunk(register_module(
            "trunk", perceptron({made_for.size("observation"), made_for.size("hidden"),
                                 made_for.size("hidden"), 2 * made_for.size("action")}))) {}

  // A fresh action and its log-probability.
  std::pair<Tensor, Tensor> sample(const Tensor& observation) {
    const auto parts = trunk->forward(observation).chunk(2, -1);
    const Tensor mean = parts[0];
    const Tensor log_deviation = -5 + 3.5 * (torch::tanh(parts[1]) + 1);  // between e^-5 and e^2
    const Tensor deviation = log_deviation.exp();
    const Tensor noise = torch::empty(mean.sizes(), mean.options()).normal_();
    const Tensor x = mean + noise * deviation;
    const Tensor normal = -((x - mean) * (x - mean)) / (2 * deviation * deviation) -
                          deviation.log() - std::log(std::sqrt(2 * M_PI));
    const Tensor squash = 2.0 * (std::log(2.0) - x - torch::softplus(-2.0 * x));
    return {torch::tanh(x), (normal - squash).sum(-1, true)};
  }

  nn::Sequential trunk;
};
TORCH_MODULE(Actor);

struct CriticImpl : nn::Module {
  explicit CriticImpl(const Case& made_for)
      : first(register_module("first", network(made_for))),
        second(register_module("second", network(made_for))) {}

  static nn::Sequential network(const Case& made_for) {
    const auto hidden = made_for.size("hidden");
    return perceptron({made_for.size("observation") + made_for.size("action"), hidden, hidden, 1});
  }

  std::pair<Tensor, Tensor> forward(const Tensor& observation, const Tensor& action) {
    const Tensor both = torch::cat({observation, action}, -1);
    return {first->forward(both), second->forward(both)};
  }

  nn::Sequential first, second;
};
TORCH_MODULE(Critic);

struct SoftActorCriticImpl : nn::Module {
  explicit SoftActorCriticImpl(const Case& made_for)
      : actor(register_module("actor", Actor(made_for))),
        critic(register_module("critic", Critic(made_for))),
        target(register_module("target", Critic(made_for))),
        log_alpha(register_parameter("log_alpha", torch::tensor(-2.0F))) {}

  // Moves the target towards the critic; share 1 copies it.
  void follow(double share) {
    torch::NoGradGuard no_grad;
    const auto theirs = critic->parameters();
    auto ours = target->parameters();
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i].lerp_(theirs[i], share);
  }

  Actor actor;
  Critic critic, target;
  Tensor log_alpha;
};
TORCH_MODULE(SoftActorCritic);

Step acting(SoftActorCritic model, const Tensor& observations) {
  return evaluation([model, observations]() mutable {
    Tensor total = torch::zeros({}, observations.options());
    for (std::int64_t i = 0; i < observations.size(0); ++i) {
      const auto [action, log_probability] = model->actor->sample(observations[i]);
      total = total + action.sum() + log_probability.sum();
    }
    return total;
  });
}

class Update {
 public:
  Update(const Case& made_for, SoftActorCritic model)
      : model_(std::move(model)),
        observation_(
            made_for.uniform("observation", {made_for.batch, made_for.size("observation")})),
        next_observation_(
            made_for.uniform("next_observation", {made_for.batch, made_for.size("observation")})),
        action_(made_for.uniform("action", {made_for.batch, made_for.size("action")})),
        reward_(made_for.uniform("reward", {made_for.batch, 1})),
        target_entropy_(-static_cast<double>(made_for.size("action"))),
        critic_optimizer_(model_->critic->parameters(), learning_rate),
        actor_optimizer_(model_->actor->parameters(), learning_rate),
        alpha_optimizer_(std::vector<Tensor>{model_->log_alpha}, learning_rate) {}

  Tensor step() {
    const Tensor alpha = model_->log_alpha.exp().detach();
    const Tensor critic_loss = update_critic(alpha);
    const auto [actor_loss, log_probability] = update_actor(alpha);
    const Tensor alpha_loss =
        (model_->log_alpha.exp() * (-log_probability - target_entropy_).detach()).mean();
    descend(alpha_optimizer_, alpha_loss);
    model_->follow(0.005);
    return torch::stack({critic_loss.detach(), actor_loss.detach(), alpha_loss.detach()});
  }

 private:
  static constexpr double learning_rate = 1e-4, discount = 0.99;

  Tensor update_critic(const Tensor& alpha) {
    Tensor wanted;
    {
      torch::NoGradGuard no_grad;
      const auto [action, log_probability] = model_->actor->sample(next_observation_);
      const auto [first, second] = model_->target->forward(next_observation_, action);
      wanted = reward_ + discount * (torch::min(first, second) - alpha * log_probability);
    }
    const auto [first, second] = model_->critic->forward(observation_, action_);
    const Tensor loss = torch::mse_loss(first, wanted) + torch::mse_loss(second, wanted);
    descend(critic_optimizer_, loss);
    return loss;
  }

  std::pair<Tensor, Tensor> update_actor(const Tensor& alpha) {
    const auto [action, log_probability] = model_->actor->sample(observation_);
    const auto [first, second] = model_->critic->forward(observation_, action);
    const Tensor loss = (alpha * log_probability - torch::min(first, second)).mean();
    descend(actor_optimizer_, loss);
    return {loss, log_probability};
  }

  SoftActorCritic model_;
  Tensor observation_, next_observation_, action_, reward_;
  double target_entropy_;
  torch::optim::Adam critic_optimizer_, actor_optimizer_, alpha_optimizer_;
};

Step make(Case& made_for) {
  SoftActorCritic model(made_for);
  made_for.ready(*model);
  model->follow(1.0);
  if (made_for.task == "act")
    return acting(model, made_for.uniform("observations", {made_for.size("steps"), made_for.batch,
                                                           made_for.size("observation")}));
  const auto update = std::make_shared<Update>(made_for, model);
  return [update] { return update->step(); };
}

const Registration registered{"soft_actor_critic", make};

}  // namespace nightjar::workloads::soft_actor_critic
