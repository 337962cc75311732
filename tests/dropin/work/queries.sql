-- SPDX-FileCopyrightText: Tenure contributors
-- SPDX-License-Identifier: MIT
pragma temp_store = memory;
create table numbers(id integer primary key, name text, share real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
insert into numbers select i, hex(i * 7919), i / 3.0 from n;
create index by_name on numbers(name);
select count(*) from numbers;
select count(*) from numbers where id % 16 = 0 and name in (select name from numbers where share > 1);
delete from numbers where id % 3 = 0;
select count(distinct name) from numbers;
vacuum;
select count(*) from (select group_concat(name) over (order by id rows 5 preceding) from numbers);
pragma integrity_check;
