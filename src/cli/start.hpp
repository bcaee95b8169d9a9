// What the command and every lesson do before anything else.
#pragma once

namespace onehead {

void start_program();

}  // namespace onehead
