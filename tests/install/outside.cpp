// A stranger's C++ program: the headers compile as C++ and the library links.
#include <psdm/psdm.h>

#include <iostream>
#include <memory>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  psdm_robot *raw = nullptr;
  psdm_error error{};
  if (psdm_robot_load(argv[1], nullptr, nullptr, &raw, &error) != PSDM_OK) {
    std::cerr << error.text << '\n';
    return 3;
  }
  std::unique_ptr<psdm_robot, decltype(&psdm_robot_free)> robot(raw, psdm_robot_free);
  std::cout << psdm_robot_name(robot.get()) << " has " << psdm_robot_n(robot.get()) << " joints\n";
  return psdm_robot_n(robot.get()) == 6 ? 0 : 1;
}
