/**
 * What {@code ./dev bench NAME} compares. To add a comparison:
 *
 * <ol>
 *   <li>Declare {@code OPTIONS}: {@code Session.options(rounds, seconds, connections, servers,
 *       usual)}, then {@code .number}, {@code .flag}, {@code .texts} or {@code .directory}.
 *   <li>Declare a {@code Figure} for each number; compute others by {@code per}, {@code plus},
 *       {@code times}.
 *   <li>Declare {@code COLUMNS} by {@code Column.spread}, {@code median}, {@code sum}, {@code
 *       ratio}, {@code multiple}, {@code difference}; goals by {@code Goal.atMost} and {@code
 *       atLeast}.
 *   <li>Open a {@code Session}, take a {@code Lineup} of servers for a {@code Job}, tell facts,
 *       {@code begin}.
 *   <li>Measure one server in one round: {@code Meter.start}, a load by {@code Wrk} or {@code
 *       LoadClient}, {@code meter.stop(Sample.of(situation, server, round))}.
 *   <li>Print {@code samples.table} and the goals, {@code keep} the samples; {@code samples.chart}
 *       draws them.
 *   <li>Add a {@code Command} to {@code Bench}; help and checks come from the options.
 * </ol>
 */
@NullMarked
package io.kamille.perf.compare;

import org.jspecify.annotations.NullMarked;
