#!/usr/bin/env Rscript
# Computes reference values for the data sets of tests/pwcet with R's evd (2.3-6.1, Debian's r-cran-evd): fits, for
# comparison, and the extremal index, which the packages of pwcet-reference.py do not have.
#
#     Rscript scripts/pwcet-reference.R tests/data/pwcet

library(evd)

folder <- commandArgs(trailingOnly = TRUE)[1]
block <- 10
number <- function(x) format(unname(x), digits = 17)

lines <- character()
for (name in c("heavy", "bounded", "dependent", "drifting", "tied")) {
    data <- scan(file.path(folder, paste0(name, ".txt")), quiet = TRUE)
    said <- readLines(file.path(folder, paste0(name, ".json")), warn = FALSE)
    found <- regmatches(said, regexpr('"threshold": [0-9.]+', said))
    u <- as.numeric(sub(".* ", "", found[1]))
    # a precise optimum, starting from the estimate by the mean
    tight <- list(reltol = 1e-14, maxit = 50000)
    gpd <- fpot(data, u, start = list(scale = mean(data[data > u] - u), shape = 0.01), std.err = FALSE,
                method = "Nelder-Mead", control = tight)
    whole <- data[seq_len(length(data) %/% block * block)]
    maxima <- apply(matrix(whole, nrow = block), 2, max)
    gev <- fgev(maxima, std.err = FALSE, method = "Nelder-Mead", control = tight)
    lines <- c(lines, sprintf(
        '  "%s": {"threshold": %s, "exceedances": %d, "alpha": %s, "xi": %s, "deviance": %s, "theta": %s, "theta_runs_5": %s, "mu": %s, "sigma": %s, "gev_xi": %s}',
        name, number(u), sum(data > u), number(gpd$estimate["scale"]), number(gpd$estimate["shape"]),
        number(gpd$deviance), number(exi(data, u, r = 0)), number(exi(data, u, r = 5)),
        number(gev$estimate["loc"]), number(gev$estimate["scale"]), number(gev$estimate["shape"])))
}
writeLines(c("{", sprintf('  "made_with": "evd %s",', packageVersion("evd")), paste(lines, collapse = ",\n"), "}"),
           file.path(folder, "evd.json"))
