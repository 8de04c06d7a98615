// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.awt.Color;
import java.awt.Font;
import java.awt.Paint;
import java.awt.geom.Rectangle2D;
import java.util.Map;
import java.util.function.Predicate;

import org.jfree.chart.ChartFactory;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.labels.ItemLabelAnchor;
import org.jfree.chart.labels.ItemLabelPosition;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.category.CategoryDataset;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.svg.SVGGraphics2D;

/**
 * Draws one value of each competitor as a horizontal bar, with its number beside it. The
 * background is transparent, and the colours can be read on a light and on a dark page.
 */
final class BarChart {

	private static final int WIDTH = 860;

	private static final int HEAD = 70;

	private static final int HEIGHT_OF_BAR = 34;

	private static final Color TEXT = new Color(0x76, 0x7E, 0x88);

	private static final Color OURS = new Color(0x1F, 0x8F, 0x5F);

	private static final Color PEER = new Color(0x9A, 0xA1, 0xAA);

	private static final Color NONE = new Color(0, 0, 0, 0);

	private static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 15);

	private static final Font LABEL = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

	private BarChart() {
	}

	/**
	 * Draw a chart.
	 * @param title the title
	 * @param unit what the numbers are
	 * @param values a number for each competitor, from the top to the bottom
	 * @param ours which of the competitors have the accent colour
	 * @return the text of an SVG file
	 */
	static String svg(String title, String unit, Map<String, Double> values, Predicate<String> ours) {
		DefaultCategoryDataset bars = new DefaultCategoryDataset();
		values.forEach((competitor, value) -> bars.addValue(value, unit, competitor));
		JFreeChart chart = ChartFactory.createBarChart(title, null, unit, bars, PlotOrientation.HORIZONTAL, false,
				false, false);
		chart.setBackgroundPaint(NONE);
		chart.getTitle().setFont(TITLE);
		chart.getTitle().setPaint(TEXT);
		CategoryPlot plot = chart.getCategoryPlot();
		plot.setBackgroundPaint(NONE);
		plot.setOutlineVisible(false);
		plot.setRangeGridlinesVisible(false);
		plot.setRenderer(new Bars(ours));
		style(plot);
		int height = HEAD + HEIGHT_OF_BAR * values.size();
		SVGGraphics2D canvas = new SVGGraphics2D(WIDTH, height);
		chart.draw(canvas, new Rectangle2D.Double(0, 0, WIDTH, height));
		return canvas.getSVGElement(null, true, null, null, null);
	}

	private static void style(CategoryPlot plot) {
		CategoryAxis competitors = plot.getDomainAxis();
		competitors.setTickLabelFont(LABEL);
		competitors.setTickLabelPaint(TEXT);
		competitors.setAxisLineVisible(false);
		competitors.setTickMarksVisible(false);
		competitors.setMaximumCategoryLabelWidthRatio(0.35f);
		NumberAxis numbers = (NumberAxis) plot.getRangeAxis();
		numbers.setLabelFont(LABEL);
		numbers.setLabelPaint(TEXT);
		numbers.setTickLabelsVisible(false);
		numbers.setTickMarksVisible(false);
		numbers.setAxisLineVisible(false);
		// Room for the number beside the longest bar
		numbers.setUpperMargin(0.15);
	}

	/**
	 * Bars without decoration.
	 */
	private static final class Bars extends BarRenderer {

		private final transient Predicate<String> ours;

		Bars(Predicate<String> ours) {
			this.ours = ours;
			setBarPainter(new StandardBarPainter());
			setShadowVisible(false);
			setDrawBarOutline(false);
			setDefaultItemLabelGenerator(new Numbers());
			setDefaultItemLabelsVisible(true);
			setDefaultItemLabelFont(LABEL);
			setDefaultItemLabelPaint(TEXT);
			setDefaultPositiveItemLabelPosition(
					new ItemLabelPosition(ItemLabelAnchor.OUTSIDE3, TextAnchor.CENTER_LEFT));
		}

		@Override
		public Paint getItemPaint(int row, int column) {
			return this.ours.test(String.valueOf(getPlot().getDataset().getColumnKey(column))) ? OURS : PEER;
		}

	}

	/**
	 * Numbers as they stand in the tables.
	 */
	private static final class Numbers extends StandardCategoryItemLabelGenerator {

		@Override
		public String generateLabel(CategoryDataset bars, int row, int column) {
			return Report.format(bars.getValue(row, column).doubleValue());
		}

	}

}
