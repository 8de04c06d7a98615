// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.awt.Color;
import java.awt.Font;
import java.awt.geom.Rectangle2D;
import java.util.Map;

import org.jfree.chart.ChartFactory;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.block.BlockBorder;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.renderer.category.StackedBarRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.data.category.DefaultCategoryDataset;
import org.jfree.svg.SVGGraphics2D;

/**
 * Draws what each strategy sold: pieces that exist, and those that do not.
 */
final class SalesChart {

	private static final int WIDTH = 860;

	private static final int HEAD = 110;

	private static final int HEIGHT_OF_BAR = 38;

	/** Readable on a light and on a dark page. */
	private static final Color TEXT = new Color(0x76, 0x7E, 0x88);

	private static final Color SOLD = new Color(0x1F, 0x8F, 0x5F);

	private static final Color OVERSOLD = new Color(0xD1, 0x3B, 0x3B);

	private static final Color NONE = new Color(0, 0, 0, 0);

	private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

	private SalesChart() {
	}

	/**
	 * Draw the chart.
	 * @param stock the number of pieces that exist
	 * @param sold the number of sold pieces by strategy, from the top to the bottom
	 * @return the text of an SVG file
	 */
	static String svg(int stock, Map<String, Long> sold) {
		DefaultCategoryDataset bars = new DefaultCategoryDataset();
		sold.forEach((strategy, pieces) -> {
			bars.addValue(Math.min(pieces, stock), "sold", strategy);
			bars.addValue(Math.max(0, pieces - stock), "oversold", strategy);
		});
		JFreeChart chart = ChartFactory.createStackedBarChart("Pieces sold of a stock of " + stock, null, null, bars,
				PlotOrientation.HORIZONTAL, true, false, false);
		chart.setBackgroundPaint(NONE);
		chart.getTitle().setFont(FONT.deriveFont(Font.BOLD, 15f));
		chart.getTitle().setPaint(TEXT);
		chart.getLegend().setBackgroundPaint(NONE);
		chart.getLegend().setFrame(BlockBorder.NONE);
		chart.getLegend().setItemFont(FONT);
		chart.getLegend().setItemPaint(TEXT);
		style(chart.getCategoryPlot());
		int height = HEAD + HEIGHT_OF_BAR * sold.size();
		SVGGraphics2D canvas = new SVGGraphics2D(WIDTH, height);
		chart.draw(canvas, new Rectangle2D.Double(0, 0, WIDTH, height));
		return canvas.getSVGElement(null, true, null, null, null);
	}

	private static void style(CategoryPlot plot) {
		plot.setBackgroundPaint(NONE);
		plot.setOutlineVisible(false);
		plot.setRangeGridlinePaint(TEXT);
		CategoryAxis strategies = plot.getDomainAxis();
		strategies.setTickLabelFont(FONT);
		strategies.setTickLabelPaint(TEXT);
		strategies.setAxisLineVisible(false);
		strategies.setTickMarksVisible(false);
		strategies.setMaximumCategoryLabelWidthRatio(0.4f);
		ValueAxis pieces = plot.getRangeAxis();
		pieces.setTickLabelFont(FONT);
		pieces.setTickLabelPaint(TEXT);
		pieces.setAxisLineVisible(false);
		StackedBarRenderer renderer = new StackedBarRenderer();
		renderer.setBarPainter(new StandardBarPainter());
		renderer.setShadowVisible(false);
		renderer.setDrawBarOutline(false);
		renderer.setSeriesPaint(0, SOLD);
		renderer.setSeriesPaint(1, OVERSOLD);
		plot.setRenderer(renderer);
	}

}
