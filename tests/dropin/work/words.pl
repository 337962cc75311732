# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

use strict;
use warnings;

my %kept;
for my $i (1 .. 650_000) { $kept{$i % 50_000} .= "x$i,"; }
my @sorted = sort { $kept{$a} cmp $kept{$b} } keys %kept;
my @pieces = split /,/, $kept{7};
my $letters = 0;
for my $key (@sorted) {
    my %inner = map { $_ => [length($_), uc $_] } split //, "tenure$key";
    $letters += 10 if %inner;
}
printf "%d keys, %d pieces, %d letters\n", scalar(@sorted), scalar(@pieces), $letters;
