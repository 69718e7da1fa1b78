#include "service/api/turns.hpp"

#include <boost/asio/io_context.hpp>
#include <vector>

#include <catch2/catch.hpp>

namespace nightjar::service::api {

TEST_CASE("A query of a higher role goes before all that wait") {
  boost::asio::io_context one_thread;
  Turns turns(one_thread.get_executor(), Turns::Order::by_role);
  web::Request anonymous, known, boss;
  known.principal = {"eye", web::Role::read};
  boss.principal = {"boss", web::Role::admin};
  std::vector<int> order;
  const auto post = [&](const web::Request& request, int number) {
    turns.post(request, [&order, number] { order.push_back(number); });
  };
  for (int i = 1; i <= 3; ++i) post(anonymous, i);
  post(known, 10);
  post(anonymous, 4);
  post(boss, 20);
  post(known, 11);
  one_thread.run();
  CHECK(order == std::vector<int>{20, 10, 11, 1, 2, 3, 4});
}

TEST_CASE("Tokens take turns, however much one of them asks") {
  for (const auto order : {Turns::Order::by_role, Turns::Order::equal}) {
    boost::asio::io_context one_thread;
    Turns turns(one_thread.get_executor(), order);
    web::Request crowd, honest, other;
    crowd.principal = {"crowd", web::Role::runner};
    honest.principal = {"honest", web::Role::runner};
    other.principal = {"other", web::Role::runner};
    std::vector<int> done;
    const auto post = [&](const web::Request& request, int number) {
      turns.post(request, [&done, number] { done.push_back(number); });
    };
    for (int i = 1; i <= 4; ++i) post(crowd, i);
    post(honest, 10);
    post(other, 20);
    post(honest, 11);
    one_thread.run();
    CHECK(done == std::vector<int>{1, 10, 20, 2, 11, 3, 4});
  }
}

TEST_CASE("Where roles do not count, nobody waits for a higher one for ever") {
  boost::asio::io_context one_thread;
  Turns turns(one_thread.get_executor(), Turns::Order::equal);
  web::Request anonymous, runner;
  runner.principal = {"lab", web::Role::runner};
  std::vector<int> done;
  for (int i = 1; i <= 3; ++i) turns.post(runner, [&done, i] { done.push_back(i); });
  turns.post(anonymous, [&done] { done.push_back(10); });
  one_thread.run();
  CHECK(done == std::vector<int>{1, 10, 2, 3});
}

}  // namespace nightjar::service::api
