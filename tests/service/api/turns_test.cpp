#include "service/api/turns.hpp"

#include <boost/asio/io_context.hpp>
#include <vector>

#include <catch2/catch.hpp>

namespace nightjar::service::api {

TEST_CASE("A query of a higher role goes before all that wait") {
  boost::asio::io_context one_thread;
  Turns turns(one_thread.get_executor());
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

}  // namespace nightjar::service::api
