// CSV in general: what is read, written again and read again is the same.
#include "onehead/io/csv.hpp"

#include "onehead/trace/files.hpp"
#include "target.hpp"

namespace {

using namespace onehead;
using Records = std::vector<std::vector<std::string>>;

Records read(std::string const& text) {
    CsvReader csv{text, "a.csv"};
    Records records;
    while (csv.next()) records.push_back(csv.fields());
    return records;
}

std::string write(Records const& records) {
    std::string text;
    for (auto const& fields : records) {
        for (std::size_t column = 0; column < fields.size(); ++column)
            text += (column == 0 ? "" : ",") + csv_field(fields[column]);
        text += "\n";
    }
    return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string const text = fuzz::text_of(data, size);
    fuzz::works([&] {
        Records const records = read(text);
        fuzz::promise(read(write(records)) == records);
    });
    return 0;
}
