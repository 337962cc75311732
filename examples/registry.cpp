// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// A registry of entities and components as ECS libraries have it: entities are handles, and each component has a pool
// that is visited in the order of addresses.

#include <cstdio>
#include <tuple>

#include <tenure/pool/handle_pool.hpp>

namespace {

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

/// A component knows its entity, so that a traversal of one pool finds the other components.
template<class Component, class Entity>
struct owned {
    Entity owner;
    Component value;
};

template<class... Components>
class registry {
public:
    struct entity_record;
    using entity = tenure::pool_handle<entity_record>;
    struct entity_record {
        std::tuple<tenure::pool_handle<owned<Components, entity>>...> components;
    };

    explicit registry(std::size_t max_entities)
        : entities_(max_entities), pools_(tenure::handle_pool<owned<Components, entity>>(max_entities)...) {}

    [[nodiscard]] entity create() { return entities_.construct(); }

    template<class Component>
    bool add(entity which, Component value) {
        entity_record* const record = entities_.get(which);
        if (record == nullptr) return false;
        auto& handle = std::get<tenure::pool_handle<owned<Component, entity>>>(record->components);
        handle = pool_of<Component>().construct(owned<Component, entity>{which, value});
        return static_cast<bool>(handle);
    }

    /// nullptr if the entity is gone or has no such component.
    template<class Component>
    [[nodiscard]] Component* get(entity which) {
        entity_record* const record = entities_.get(which);
        if (record == nullptr) return nullptr;
        auto* const found =
            pool_of<Component>().get(std::get<tenure::pool_handle<owned<Component, entity>>>(record->components));
        return found != nullptr ? &found->value : nullptr;
    }

    /// Destroys an entity and its components. A stale entity does nothing.
    void destroy(entity which) {
        entity_record* const record = entities_.get(which);
        if (record == nullptr) return;
        (pool_of<Components>().destroy(std::get<tenure::pool_handle<owned<Components, entity>>>(record->components)),
         ...);
        entities_.destroy(which);
    }

    /// Calls `visit(First&, Others&...)` for every entity that has all of them. The first pool sets the order.
    template<class First, class... Others, class Visit>
    void each(Visit&& visit) {
        for (owned<First, entity>& first : pool_of<First>()) {
            const std::tuple<Others*...> others{get<Others>(first.owner)...};
            if ((... && (std::get<Others*>(others) != nullptr))) visit(first.value, *std::get<Others*>(others)...);
        }
    }

    [[nodiscard]] std::size_t size() const { return entities_.size(); }

private:
    template<class Component>
    [[nodiscard]] auto& pool_of() {
        return std::get<tenure::handle_pool<owned<Component, entity>>>(pools_);
    }

    tenure::handle_pool<entity_record> entities_;
    std::tuple<tenure::handle_pool<owned<Components, entity>>...> pools_;
};

}

int main() {
    registry<position, velocity> world(100'000);
    using entity = registry<position, velocity>::entity;
    entity first{};
    for (int index = 0; index < 1000; ++index) {
        const entity made = world.create();
        if (!world.add(made, position{0, 0})) return 1;
        if (index % 2 == 0 && !world.add(made, velocity{1, 2})) return 1;
        if (index == 0) first = made;
    }
    for (int frame = 0; frame < 10; ++frame) {
        world.each<velocity, position>([](const velocity& speed, position& at) {
            at.x += speed.x;
            at.y += speed.y;
        });
    }
    const position* const moved = world.get<position>(first);
    if (moved == nullptr || moved->x != 10 || moved->y != 20) return 1;
    world.destroy(first);
    std::printf("%zu entities; the first one is %s\n", world.size(),
                world.get<position>(first) == nullptr ? "gone" : "there");
    return world.get<position>(first) == nullptr && world.size() == 999 ? 0 : 1;
}
