#pragma once

/// Runs the cases that Catch2 finds by `which`, for a program with a main function of its own.
/// Returns how many assertions failed.
int run_cases(const char* program, const char* which);
