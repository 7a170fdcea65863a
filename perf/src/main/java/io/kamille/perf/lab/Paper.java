package io.kamille.perf.lab;

import java.util.List;

/**
 * What somebody found out, and what is asked again.
 *
 * @param name of the experiment, {@code p1}
 * @param title what it is about
 * @param question what it is to find out, in a sentence or two
 * @param figures that the paper has
 */
record Paper(String name, String title, String question, List<String> figures) {}
