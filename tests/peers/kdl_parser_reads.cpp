// kdl_parser has no Python face: says "reads" or "refuses" for each URDF file that it is given.
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include <kdl_parser/kdl_parser.hpp>

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    KDL::Tree tree;
    bool read = false;
    try {
      read = kdl_parser::treeFromString(text.str(), tree);
    } catch (const std::exception &) {
    }
    std::cout << (read ? "reads" : "refuses") << std::endl;
  }
}
