// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tenure/platform/short_name.hpp>

namespace {

std::string short_of(std::string_view mangled) {
    char buffer[256];
    return std::string{tenure::platform::short_name(mangled, buffer, sizeof buffer)};
}

TEST(short_name, has_namespaces_and_classes_but_no_parameters) {
    EXPECT_EQ(short_of("_ZN4game5spawnEi"), "game::spawn");
    EXPECT_EQ(short_of("_Z5spawniPKcRSt6vectorIiSaIiEE"), "spawn");
    EXPECT_EQ(short_of("_ZL9of_a_filev"), "of_a_file");
    EXPECT_EQ(short_of("_ZNK4game7monster6healthEv"), "game::monster::health");
    EXPECT_EQ(short_of("_ZN12_GLOBAL__N_16helperEv"), "(anonymous namespace)::helper");
    EXPECT_EQ(short_of("_ZN4game4loopB5cxx11Ev"), "game::loop");
}

TEST(short_name, names_constructors_destructors_and_operators) {
    EXPECT_EQ(short_of("_ZN4game7monsterC2Eii"), "game::monster::monster");
    EXPECT_EQ(short_of("_ZN4game7monsterD0Ev"), "game::monster::~monster");
    EXPECT_EQ(short_of("_ZN4game7derivedCI2NS_4baseEEi"), "game::derived::derived");
    EXPECT_EQ(short_of("_Znwm"), "operator new");
    EXPECT_EQ(short_of("_ZN4game6vectorixEm"), "game::vector::operator[]");
    EXPECT_EQ(short_of("_ZNK4game6vectorcvbEv"), "game::vector::operator (type)");
    EXPECT_EQ(short_of("_Zli3_kmy"), "operator\"\"_km");
}

TEST(short_name, shows_that_there_are_template_arguments) {
    EXPECT_EQ(short_of("_ZNSt6vectorIiSaIiEE9push_backEOi"), "std::vector<...>::push_back");
    EXPECT_EQ(short_of("_Z3addILi5ELb1EEiv"), "add<...>");
    EXPECT_EQ(short_of("_ZN4game4pairIN3abc3defELPKc0EE3getIJidS3_EEEvT_DpT0_"), "game::pair<...>::get<...>");
    EXPECT_EQ(
        short_of(
            "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS5_ESaISt4pairIKS5_iEEE2atERS9_"),
        "std::map<...>::at");
    EXPECT_EQ(short_of("_Z4callIPFviEEvT_"), "call<...>");
    EXPECT_EQ(short_of("_ZNSs6appendEPKc"), "std::string::append");
}

TEST(short_name, a_destructor_is_named_by_its_class_and_not_by_the_last_template_argument) {
    EXPECT_EQ(short_of("_ZNSt10unique_ptrIN4game7monsterENS0_7deleterINS0_14process_memoryEEEED2Ev"),
              "std::unique_ptr<...>::~unique_ptr");
    EXPECT_EQ(short_of("_ZN4game7monsterC1ISt10unique_ptrIiSaIiEEEET_"), "game::monster::monster<...>");
    EXPECT_EQ(short_of("_ZN4game3boxISsEC2Ev"), "game::box<...>::box");
    EXPECT_EQ(short_of("_ZNSaIcED1Ev"), "std::allocator<...>::~allocator");
}

TEST(short_name, says_where_a_lambda_is) {
    EXPECT_EQ(short_of("_ZNK4game5plainMUliE_clEi"), "game::plain::{lambda}::operator()");
    EXPECT_EQ(short_of("_ZNK4gameL7of_fileMUlSt10unique_ptrIiSaIiEEE_clES3_"), "game::of_file::{lambda}::operator()");
    EXPECT_EQ(short_of("_ZNK4game11of_templateIiEMUliE_clEi"), "game::of_template<...>::{lambda}::operator()");
    EXPECT_EQ(short_of("_ZNK4game3$_0clEv"), "game::{lambda}::operator()");
    EXPECT_EQ(short_of("_ZNKUlvE_clEv"), "{lambda}::operator()");
    EXPECT_EQ(short_of("_ZNK4game5packsMUlTyTnT_DpT0_E_clIiLi4EJEEEDaS1_"), "game::packs::{lambda}::operator()<...>");
    EXPECT_EQ(short_of("_GLOBAL__sub_I__ZN4game5valueE"), "(initialisers of a file)");
    EXPECT_EQ(short_of("_ZZ4mainENKUlvE_clEv"), "main::{lambda}::operator()");
    EXPECT_EQ(short_of("_ZZN4game4loopERKSsENKUliPcE0_clEiS2_"), "game::loop::{lambda}::operator()");
}

TEST(short_name, leaves_what_it_does_not_know) {
    for (const std::string_view each : {"main", "", "_Z", "_ZN", "_ZN4game", "_ZN99999game5spawnEi", "_ZTV7monster",
                                        "_ZThn16_N4game5spawnEi", "_ZN4gameI", "_Z4callIXE"})
        EXPECT_EQ(short_of(each), each);
    constexpr std::string_view longer = "_ZZ1fDxE1gv"; // what is behind the name is not read
    EXPECT_EQ(short_of(longer.substr(0, 6)), "_ZZ1fD");
    const std::string deep = "_Z1f" + std::string(10'000, 'I');
    EXPECT_EQ(short_of(deep), deep);
}

TEST(short_name, is_truncated_to_the_buffer) {
    char buffer[8];
    EXPECT_EQ(tenure::platform::short_name("_ZN4game5spawnEi", buffer, sizeof buffer), "game::sp");
}

TEST(short_name, any_damage_to_a_name_is_harmless) {
    constexpr std::string_view whole =
        "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS5_ESaISt4pairIKS5_iEEE2atERS9_";
    for (std::size_t end = 0; end <= whole.size(); ++end) {
        for (const char wrong : {'\0', 'E', 'I', 'N', 'Z', 'S', 'T', 'L', 'X', '9', '_', 'F', 'D'}) {
            std::string name{whole.substr(0, end)};
            short_of(name);
            name += wrong;
            name += whole.substr(end == whole.size() ? end : end + 1);
            short_of(name);
        }
    }
}

TEST(short_name, only_names_of_this_library_are_its_own) {
    using tenure::platform::is_own_name;
    const std::string abi = TENURE_TEXT(TENURE_ABI);
    const std::string space = "6tenure" + std::to_string(abi.size()) + abi;
    EXPECT_TRUE(is_own_name("_ZN" + space + "6reportENS0_11report_kindE"));
    EXPECT_TRUE(is_own_name("_ZNK" + space + "4heap5validEv"));
    EXPECT_TRUE(is_own_name("_ZZN" + space + "4heap5validEvENKUlvE_clEv"));
    EXPECT_TRUE(is_own_name("_ZThn16_N" + space + "4heap5validEv"));
    EXPECT_TRUE(is_own_name("_ZTv0_n24_NK" + space + "4heap5validEv"));
    EXPECT_TRUE(is_own_name("tn_malloc"));
    EXPECT_FALSE(is_own_name("_ZThn16_N4game5spawnEi"));
    EXPECT_FALSE(is_own_name("_ZTv0"));
    EXPECT_FALSE(is_own_name("_ZN6tenure4gameEv"));
    EXPECT_FALSE(is_own_name("_Z4callIN" + space + "4heapEEvT_"));
    EXPECT_FALSE(is_own_name("_ZN4game5spawnEi"));
    EXPECT_FALSE(is_own_name("main"));
}

TEST(short_name, the_standard_library_and_global_operators_are_known_by_their_names) {
    using tenure::platform::is_global_new_or_delete;
    using tenure::platform::is_standard_name;
    EXPECT_TRUE(is_standard_name("_ZSt8for_eachIPiEvT_S1_"));
    EXPECT_TRUE(is_standard_name("_ZNKSt8functionIFvvEEclEv"));
    EXPECT_TRUE(is_standard_name("_ZN9__gnu_cxx13new_allocatorIiE8allocateEmPKv"));
    EXPECT_FALSE(is_standard_name("_ZN4game5spawnESt6vectorIiE"));
    EXPECT_TRUE(is_global_new_or_delete("_Znwm"));
    EXPECT_TRUE(is_global_new_or_delete("_ZdaPvm"));
    EXPECT_FALSE(is_global_new_or_delete("_ZN4gamenwEm"));
    EXPECT_FALSE(is_global_new_or_delete("main"));
}

}
