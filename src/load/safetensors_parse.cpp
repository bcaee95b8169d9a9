// The header's JSON, event by event. No tree is built: whatever does not belong (nesting, a name given twice,
// a number that is no count) ends the reading where it stands, so that a hostile header costs no memory.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "error.hpp"
#include "load/quote.hpp"
#include "load/safetensors_header.hpp"

namespace onehead {
namespace {

using nlohmann::json;

constexpr std::size_t most_tensors = 16384;  // GPT-2 XL has 580
constexpr std::size_t most_metadata = 1024;
constexpr std::size_t most_dimensions = 8;

class HeaderReader : public json::json_sax_t {
public:
    explicit HeaderReader(std::string file) : file_(std::move(file)) {}

    SafetensorsHeader take() { return std::move(header_); }

    bool start_object(std::size_t /*size*/) override {
        if (place_ == Place::before) return go(Place::top);
        if (place_ != Place::named) return refuse("an object");
        return go(name_ == "__metadata__" ? Place::metadata : Place::tensor);
    }

    bool end_object() override {
        if (place_ == Place::tensor) keep_tensor();
        return go(place_ == Place::top ? Place::after : Place::top);
    }

    bool key(std::string& text) override {
        if (place_ == Place::top) {
            name_ = text;
            field_.clear();
            tensor_ = {};
            if (!names_.insert(name_).second) return refuse("a second entry of that name");
            if (names_.size() > most_tensors)
                return refuse(fmt::format("more than {} tensors", most_tensors));
            return go(Place::named);
        }
        field_ = text;
        return true;
    }

    bool string(std::string& text) override {
        if (place_ == Place::metadata) return keep_metadata(text);
        if (place_ != Place::tensor || field_ != "dtype" || tensor_.dtype)
            return refuse(fmt::format("text {}", quote(text)));
        tensor_.dtype = text;
        return true;
    }

    bool start_array(std::size_t /*size*/) override {
        auto* const list = open_list();
        if (place_ != Place::tensor || list == nullptr || *list) return refuse("a list");
        list->emplace();
        return go(Place::list);
    }

    bool end_array() override { return go(Place::tensor); }

    bool number_unsigned(std::uint64_t number) override {
        if (place_ != Place::list) return refuse(fmt::format("number {}", number));
        auto& list = **open_list();
        if (list.size() == most_dimensions)
            return refuse(fmt::format("more than {} numbers", most_dimensions));
        list.push_back(number);
        return true;
    }

    bool number_integer(std::int64_t number) override { return refuse(fmt::format("number {}", number)); }
    bool number_float(double /*number*/, std::string const& text) override {
        return refuse(fmt::format("number {}", quote(text)));
    }
    bool null() override { return refuse("null"); }
    bool boolean(bool /*value*/) override { return refuse("true or false"); }
    bool binary(json::binary_t& /*value*/) override { return refuse("bytes"); }

    bool parse_error(std::size_t byte, std::string const& /*token*/,
                     json::exception const& /*error*/) override {
        throw Error(
            fmt::format("{}: header: expected JSON, found something else at its byte {}: download it again",
                        file_, byte));
    }

private:
    enum class Place { before, top, named, metadata, tensor, list, after };

    struct Tensor {
        std::optional<std::string> dtype;
        std::optional<std::vector<std::uint64_t>> shape, data_offsets;
    };

    bool go(Place place) {
        place_ = place;
        return true;
    }

    bool refuse(std::string const& found) const {
        auto const field = field_.empty() ? "" : fmt::format(", field {}", quote(field_));
        auto const where = place_ == Place::before ? "its start" : quote(name_);
        throw Error(fmt::format("{}: header: {}{}: did not expect {}", file_, where, field, found));
    }

    std::optional<std::vector<std::uint64_t>>* open_list() {
        if (field_ == "shape") return &tensor_.shape;
        if (field_ == "data_offsets") return &tensor_.data_offsets;
        return nullptr;
    }

    bool keep_metadata(std::string const& text) {
        if (!header_.metadata.emplace(field_, text).second)
            return refuse(fmt::format("a second {}", quote(field_)));
        if (header_.metadata.size() > most_metadata)
            return refuse(fmt::format("more than {} texts", most_metadata));
        return true;
    }

    void keep_tensor() {
        auto& [dtype, shape, offsets] = tensor_;
        if (!dtype || !shape || !offsets || offsets->size() != 2)
            throw Error(fmt::format("{}: header: {}: expected dtype, shape and data_offsets [begin, end]",
                                    file_, quote(name_)));
        header_.tensors[name_] = {*dtype, *shape, offsets->front(), offsets->back()};
    }

    std::string file_;
    SafetensorsHeader header_;
    std::set<std::string> names_;
    Place place_ = Place::before;
    std::string name_, field_;
    Tensor tensor_;
};

}  // namespace

SafetensorsHeader parse_header(std::string const& text, std::string const& file) {
    HeaderReader reader(file);
    json::sax_parse(text, &reader);
    return reader.take();
}

}  // namespace onehead
