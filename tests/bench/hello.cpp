// What starting and ending any program costs.
#include <iostream>

int main() {
    std::cout << "Hello, world!\n";
}
